/** What an operator has to know of each alert beyond what its rule says. */

interface Explained {
  /** The condition in words, for the table. */
  readonly when: string;
  readonly means: string;
  readonly action: string;
}

/** The built-in rules by `alertname`; `pages.ts` refuses one that is missing. */
export const builtIn: Readonly<Record<string, Explained>> = {
  RecordingOffline: {
    when: "status is offline",
    means: "The service has no contact with one camera, others at its location may work. Visits there are not counted.",
    action:
      "Are others there online? Have power, cable and switch port checked on site. It ends 5 minutes after the camera is back.",
  },
  RecordingDegraded: {
    when: "status is degraded",
    means: "The service reports that the camera works with trouble; the contract says no more.",
    action: "Look at its picture. If it is fine, ask the support of the service.",
  },
  LowQuality: {
    when: "quality below 70 %, until 80 %",
    means: "The picture is blurred, dark, covered or moved. Counts may be wrong. The message has the quality of now.",
    action: "Have the lens cleaned, the light or the direction checked. It can wait for the day.",
  },
  LowUptime: {
    when: "uptime over 24 h below 95 %, until 97 %",
    means:
      "Small losses that no other alert was about, added up: `segments missing` did not arrive, `segments bad` arrived and are of no use.",
    action: "Check the camera's network when you have time; the page of the recording shows the hours.",
  },
  RecordingNotUploading: {
    when: "online, and below 5 % of its segments arrive, until 50 %",
    means: "The camera answers, and no video arrives: usually the upload or the recorder.",
    action: "Restart the camera or its recorder; check the upload bandwidth of the location.",
  },
  RecordingMissing: {
    when: "known, and absent from complete answers",
    means: "The service does not list the camera any more. It is not called offline, as nobody knows.",
    action:
      "Was it removed? Then put it in `watch.exclude`, or wait: it is forgotten after `watch.forget_after` (24h). Else ask the service.",
  },
  RecordingFlapping: {
    when: "30 % of the last 21 minutes changed, until 20 %",
    means:
      "The camera goes offline and comes back all the time: a loose cable, weak power, a bad Wi-Fi. Sent once at its beginning, once at its end.",
    action: "Have the cable and the power supply checked. Its single outages are not sent meanwhile.",
  },
  LocationOffline: {
    when: "all of two or more recordings offline, until below 80 %",
    means:
      "The whole location is out: power, router, or its internet line. The alerts of its cameras are suppressed by it.",
    action:
      "Call the location: is there power? Then its network provider. `lenswatch why NAME` shows what was seen when.",
  },
  CameraServerOffline: {
    when: "all of three or more recordings offline, until below 80 %",
    means:
      "All cameras of one camera server are out, perhaps at several locations. The alerts of its cameras are suppressed by it.",
    action:
      "The page of the alert lists its locations. Report the server's id to its operator; the locations can do nothing.",
  },
  ServiceUnreachable: {
    when: "no more than a tenth of the recordings was read for three intervals",
    means:
      "lenswatch gets no readings: the analytics service does not answer, or nobody understands its answers, or lenswatch cannot store them. It says nothing about cameras: they keep their last state, nothing begins or ends, and their alerts are suppressed.",
    action:
      "The description has the last error and whether the service calls itself healthy; its code for [ServiceError](errors.md#serviceerror) is in the log. Answered 401 or 403, or `service.client_id` named: your credentials. Answered 5xx, or no reply: the service. Could not be reached: the network or the service. Outages that began meanwhile are sent afterwards, with their true start as far as the service knows it.",
  },
  ServicePartlyUnreachable: {
    when: "recordings not read in time, uptime or counts stale, an answer not believed",
    means:
      "Some recordings are not watched for 10 minutes. The description names all causes: sweeps of some locations fail or come too slowly; rows or a status are not understood; an answer or the location list lacks too many and is not believed; uptime or counts are older than twice their interval; stored data is `unreadable`; lenswatch fails to evaluate (a defect: see its log).",
    action:
      "Open `/?show=locations&only=unknown`. Report failing locations and unknown statuses to the service; put what it does not serve any more in `watch.exclude`. If recordings were really removed, do that too, and answers are believed again. Sweeps too far apart need a longer `watch.status_interval`, more CPU or more replicas with the role `poll`.",
  },
  DirectoryStale: {
    when: "the directory cannot be read",
    means: "Labels, contacts and recipients are those of the last one read.",
    action: "The description says which file or URL, and why. `lenswatch check-config` tries it.",
  },
  NotificationsFailing: {
    when: "an integration accepts nothing",
    means:
      "One Slack webhook, mail address or other integration has accepted nothing for 5 minutes. Messages are kept, retried at most 5 minutes apart, and sent as things are by then. The others of its route are notified of this.",
    action:
      "The labels name receiver and integration, the description the last error: see [NotifyError](errors.md#notifyerror). After the correction: `lenswatch notify-test RECEIVER`. Until then, watch the status page.",
  },
};

/** What `runbook` in the rules file leaves out, by `alert`. */
export const prometheusNotes: Readonly<Record<string, string>> = {
  LenswatchDown:
    "It continues where it stopped, and sends late what happened meanwhile. It ends by itself on an invalid configuration (`lenswatch check-config`), a port in use, and when memory runs out ([Sizing](../operations.md#sizing)).",
  LenswatchFleetUnread:
    "`OOM command not allowed` needs a larger `maxmemory`, a full disk needs space, a changed password a matching `redis` section and a restart. `unreadable` in the log: see [Upgrading](../operations.md#upgrading).",
  LenswatchSweepsStale: "If `watch.status_interval` is above 30 s, raise the 150 in the rule to five intervals.",
  LenswatchServiceUnreachable:
    "It is [ServiceUnreachable](#serviceunreachable), for people whom lenswatch does not reach.",
  LenswatchPartlyUnreachable: "As for [ServicePartlyUnreachable](#servicepartlyunreachable).",
  LenswatchServiceFailing: "The outcome is a code of [ServiceError](errors.md#serviceerror).",
  LenswatchUptimeStale:
    "Without failures, rounds take longer than half an hour: more replicas. If `watch.uptime_interval` is not 10m, set the 1800 in the rule to three intervals.",
  LenswatchCountsStale:
    "Without failures, rounds take longer than an hour: more replicas ([what counts cost](../contributing/benchmarks.md#requests-for-counts)). With `counts.interval` above 20m, set the 3600 in the rule to three intervals.",
  LenswatchNotificationsFailing: "As for [NotificationsFailing](#notificationsfailing).",
  LenswatchNotificationsRefused: "[NotifyError](errors.md#notifyerror) lists the reasons.",
  LenswatchAnswersNotUnderstood:
    "KIND: frames `bad_frame`, `bad_part`, `too_large`, `unknown_id`; replies `bad_json`, `bad_payload`, `error_payload`; rows and fields `bad_row`, `duplicate_row`, `bad_bucket`, `bad_value`, `bad_product`, `unknown_status`, `bad_timezone`, `utc_index`; the token `bad_token_expiry`.",
};
