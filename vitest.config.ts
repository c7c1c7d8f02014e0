import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 400_000,
    hookTimeout: 400_000,
    maxWorkers: 4,
    reporters: ["default"],
  },
});
