/** A service that answers nothing. */
import { type Service, ServiceError } from "../../src/service/service.ts";

const refuse = () => Promise.reject(new ServiceError("unavailable", "The model has no such answer."));

export const noService: Service = {
  checkStatus: refuse,
  locations: refuse,
  recordingUptime: refuse,
  uptimes: refuse,
  statusUptime: refuse,
  entries: refuse,
  areaData: refuse,
  averageDwellTime: refuse,
  conversionRate: refuse,
  areaContexts: refuse,
  close: async () => {},
};
