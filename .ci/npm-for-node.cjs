/**
 * Loaded into npm by .ci/setup: npm leaves out optional packages whose `engines` exclude the Node that it runs on, but
 * these are for the Node of the lock file. npm goes on running on the Node that it came with.
 */
const { version } = require("../package-lock.json").packages["node_modules/node"];
Object.defineProperty(process, "version", { value: `v${version}` });
