import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";

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

/** Stories of whole daemons, which wait for timers most of the time: they run beside what keeps a core busy. */
const waits = /\/test\/(app|deliver\/late-ends-daemon|deliver\/restart|notify\/hostile-answers)/;

/** The larger files first, those that wait spread evenly over the first 60 % of the others. */
class Mixed extends BaseSequencer {
  override async sort(files: Parameters<BaseSequencer["sort"]>[0]) {
    const sorted = await super.sort(files);
    const places = new Map<(typeof files)[number], number>();
    for (const [waiting, share] of [
      [true, 0.6],
      [false, 1],
    ] as const) {
      const kind = sorted.filter(({ moduleId }) => waits.test(moduleId) === waiting);
      for (const [i, file] of kind.entries()) places.set(file, (share * i) / kind.length);
    }
    const place = (file: (typeof files)[number]) => (file.project.config.isolate ? -1 : (places.get(file) ?? 0));
    return sorted.sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    testTimeout: 400_000,
    hookTimeout: 400_000,
    // More than there are cores: daemons wait for their timers most of the time.
    maxWorkers: 6,
    reporters: ["default"],
    sequence: { sequencer: Mixed },
    projects: [
      { extends: true, test: { name: "alone", include: alone } },
      { extends: true, test: { name: "shared", include: ["test/**/*.test.ts"], exclude: alone, isolate: false } },
    ],
  },
});
