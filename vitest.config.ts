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

/** Whole daemons, which take longest: they begin first. Projects run in the order of their names. */
const app = ["test/app/*.test.ts"];

export default defineConfig({
  test: {
    testTimeout: 400_000,
    hookTimeout: 400_000,
    maxWorkers: 4,
    reporters: ["default"],
    projects: [
      { extends: true, test: { name: "alone", include: alone } },
      { extends: true, test: { name: "app", include: app, exclude: alone, isolate: false } },
      {
        extends: true,
        test: { name: "shared", include: ["test/**/*.test.ts"], exclude: [...alone, ...app], isolate: false },
      },
    ],
  },
});
