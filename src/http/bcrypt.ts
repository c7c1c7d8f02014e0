/** Compares with a bcrypt hash in a thread of its own, as that takes tens of ms to seconds; this file is the thread's too. */
import { once } from "node:events";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { compareSync } from "bcryptjs";

const PURPOSE = "lenswatch bcrypt";

/** Rejects where no thread can be started. */
export async function compareHash(password: string, hash: string): Promise<boolean> {
  const options = { workerData: { purpose: PURPOSE, password, hash }, env: {}, execArgv: [], name: "bcrypt" };
  const [isRight] = await once(new Worker(new URL(import.meta.url), options), "message");
  return isRight === true;
}

if (parentPort && workerData?.purpose === PURPOSE)
  parentPort.postMessage(compareSync(workerData.password, workerData.hash));
