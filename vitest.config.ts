import { defineConfig } from "vitest/config";

/** Files that change their process, or need one that nothing else ran in; the others share processes and modules. */
const alone = [
  "test/*.test.ts",
  "test/app/**",
  "test/commands/demo.test.ts",
  "test/redis-embedded/**",
  "test/store/sentinel-failover.test.ts",
];

export default defineConfig({
  test: {
    testTimeout: 400_000,
    hookTimeout: 400_000,
    maxWorkers: 4,
    reporters: ["default"],
    projects: [
      { extends: true, test: { name: "alone", include: alone.map((one) => one.replace(/\*\*$/, "**/*.test.ts")) } },
      { extends: true, test: { name: "shared", include: ["test/**/*.test.ts"], exclude: alone, isolate: false } },
    ],
  },
});
