import { defineConfig } from "vitest/config";

/** Files that change their process, or need one that nothing else ran in; the others share processes and modules. */
const alone = [
  "test/commands/demo.test.ts",
  "test/redis-embedded/embedded.test.ts",
  "test/store/sentinel-failover.test.ts",
  "test/app/command-line.test.ts",
  "test/app/systemd.test.ts",
  "test/app/watch-config-file.test.ts",
  "test/main.test.ts",
];

/**
 * What takes longest, whole daemons above all, begins first, so that nothing of it is left at the end. Projects run in
 * the order of their names; files in the order of their sizes, where no earlier run has left their durations.
 */
const long = [
  "test/app/*.test.ts",
  "test/deliver/late-ends-daemon.test.ts",
  "test/http/page/browser.test.ts",
  "test/model/convergence.test.ts",
  "test/notify/hostile-answers.test.ts",
  "test/year/year.test.ts",
];

export default defineConfig({
  test: {
    testTimeout: 400_000,
    hookTimeout: 400_000,
    // More than there are cores: daemons wait for their timers most of the time.
    maxWorkers: 5,
    reporters: ["default"],
    projects: [
      { extends: true, test: { name: "alone", include: alone } },
      { extends: true, test: { name: "long", include: long, exclude: alone, isolate: false } },
      {
        extends: true,
        test: { name: "shared", include: ["test/**/*.test.ts"], exclude: [...alone, ...long], isolate: false },
      },
    ],
  },
});
