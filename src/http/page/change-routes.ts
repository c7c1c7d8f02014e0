/** Changes from the page: setting and ending silences, links to reports, notes of the shift; the other forms have files of their own. */
import { parse } from "node:querystring";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { silenceProblem, type WantedSilence } from "../../alerting/silence.ts";
import type { Instant } from "../../lib/clock.ts";
import { timesSeenAt } from "../../lib/when.ts";
import { runYielding } from "../../lib/yield.ts";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { authorOf, originOf } from "../principal.ts";
import { boundedText, parseQuery, parseRequestBody } from "../query.ts";
import { formTokenOf } from "../session.ts";
import { undoOneSilence } from "../v1/acknowledgement.ts";
import { withZone } from "../v1/handover.ts";
import { ReportQuery, reportInTime } from "../v1/report.ts";
import { shareReport } from "../v1/report-link.ts";
import type { ShownConfig } from "../v2/config-original.ts";
import { ackRoutes } from "./ack-routes.ts";
import { type FieldProblem, readFields } from "./field.ts";
import { incidentButtons } from "./incident-routes.ts";
import type { Layout } from "./layout.ts";
import { type PageData, readPageData } from "./page-data.ts";
import { reportPage } from "./report-page.ts";
import { pathWithin, sessionRoutes } from "./sign-in.ts";
import { type SilenceForm, silenceFormPage } from "./silence-form.ts";
import {
  LONGEST_MS,
  MatchersField,
  matchersTyped,
  namesOf,
  PreviewQuery,
  previewOf,
  SilenceFields,
  spanOf,
  zoneOf,
} from "./silence-request.ts";
import { visitorOf } from "./visitor.ts";
import { readerZone } from "./when.ts";

const ShiftNoteField = z.object({ text: boundedText(1_000).trim().min(1, "expected a text") });

/** The path, from `/` on, that a button leads back to. */
const Back = z.object({ back: z.string().max(2_048).catch("") });

export function changeRoutes(root: FastifyInstance, deps: HttpDeps, layout: Layout): void {
  // Forms are parsed only here: the API accepts none.
  root.register(async (app) => {
    app.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string" },
      async (_: unknown, body: string) => parse(body),
    );
    sessionRoutes(app, deps, layout);
    incidentButtons(app, deps);

    async function sendForm(
      request: FastifyRequest,
      reply: FastifyReply,
      typed: z.infer<typeof PreviewQuery>,
      problem: FieldProblem | undefined,
    ) {
      const data = await readPageData(deps, readerZone(request, deps));
      const form = await formOf(typed, problem, data, deps.config().rules);
      const page = silenceFormPage(form, data, visitorOf(request, deps));
      return layout.send(request, reply.code(form.problem ? 400 : 200), { ...page, data });
    }

    app.get("/silences/new", { config: { page: "../" } }, async (request, reply) => {
      const given = parseQuery(PreviewQuery, request.query);
      return sendForm(request, reply, given, undefined);
    });

    app.post("/silences/new", { config: { page: "../", form: true, scope: "silence" } }, async (request, reply) => {
      const now = deps.clock.now();
      const read = readFields(SilenceFields, request.body);
      const asked = "fields" in read ? read.fields : undefined;
      const times = timesSeenAt(now, readerZone(request, deps));
      const span =
        asked && spanOf(asked, now, times.zoneFor(zoneOf(asked.matchers, (await deps.overview()).inventory)));
      const wanted = span && "endsAt" in span ? wantedOf(asked, span, authorOf(request.principal)) : undefined;
      const unfit = span && "field" in span ? span : problemWith(wanted, now);
      const problem = "problem" in read ? read.problem : unfit;
      if (problem || !wanted) return sendForm(request, reply, Typed.parse(request.body), problem);
      const { rules } = deps.config();
      if (!asked?.anyway && (await runYielding(previewOf(wanted.matchers, await readPageData(deps), rules))).isIdle)
        return sendForm(request, reply, Typed.parse(request.body), NOTHING_MATCHES);
      const set = await deps.setSilence(wanted, originOf(request));
      if (set.outcome !== "set") {
        const why = set.outcome === "refused" ? set.why : "it is not known any more";
        throw new HttpError("bad_body", `The silence was refused: ${why}.`);
      }
      return back(reply, "../", "?show=silences");
    });

    const sendReport = async (request: FastifyRequest, reply: FastifyReply, isShared: boolean) => {
      const query = withZone(parseQuery(ReportQuery, request.query), readerZone(request, deps));
      const report = await reportInTime(deps, query);
      const link = isShared ? shareReport(deps, report, query, originOf(request)) : undefined;
      const isSigner = request.session !== undefined && request.principal.scopes.has("read");
      const token = isSigner ? formTokenOf(request, deps.access) : undefined;
      const data = await readPageData(deps, readerZone(request, deps));
      return layout.send(request, reply, { ...reportPage(report, query, token, link), data });
    };
    const ofReport = { page: "./", lane: "reports" } as const;
    app.get("/report", { config: ofReport }, (request, reply) => sendReport(request, reply, false));
    app.post("/report", { config: { ...ofReport, form: true } }, (request, reply) => sendReport(request, reply, true));

    app.post("/handover/notes", { config: { page: "../", form: true, scope: "silence" } }, async (request, reply) => {
      const { text } = parseRequestBody(ShiftNoteField, request.body);
      const by = originOf(request);
      await deps.addShiftNote({ at: deps.clock.now(), author: authorOf(request.principal), text }, by);
      return back(reply, "../", "handover");
    });

    const button = { config: { page: "../../", form: true, scope: "silence" } } as const;
    app.post<{ Params: { id: string } }>("/silences/:id/end", button, async (request, reply) => {
      if (!(await deps.endSilence(request.params.id, originOf(request))))
        throw new HttpError("not_found", "There is no silence with this id any more.");
      return back(reply, "../../", Back.parse(request.body).back || "?show=silences");
    });

    app.post<{ Params: { id: string } }>("/silences/:id/undo", button, async (request, reply) => {
      await undoOneSilence(deps, request.params.id, originOf(request));
      return back(reply, "../../", "?show=silences");
    });

    app.post<{ Params: { id: string } }>("/silences/:id/extend", button, async (request, reply) => {
      const { until } = parseRequestBody(Extension, request.body);
      if (until > deps.clock.now() + LONGEST_MS) throw new HttpError("bad_body", "A silence lasts a year at most.");
      if (!(await deps.extendSilence(request.params.id, until, originOf(request))))
        throw new HttpError("not_found", "This silence is over already: set it again.");
      return back(reply, "../../", "?show=silences");
    });

    const backTo = ({ body }: FastifyRequest, reply: FastifyReply) => back(reply, "../../", Back.parse(body).back);
    ackRoutes(app, deps, { ...button, back: backTo });
  });
}

function back(reply: FastifyReply, root: string, path: string): FastifyReply {
  return reply.redirect(`${root}${pathWithin(path)}`, 303);
}

function wantedOf(
  { matchers, comment }: SilenceFields,
  span: Pick<WantedSilence, "startsAt" | "endsAt">,
  createdBy: string,
): WantedSilence {
  return { ...span, id: undefined, matchers, createdBy, comment, annotations: {} };
}

function problemWith(wanted: WantedSilence | undefined, now: Instant): FieldProblem | undefined {
  if (!wanted) return undefined;
  const message = silenceProblem(wanted, now);
  return message === undefined ? undefined : { field: "matchers", message };
}

const NOTHING_MATCHES = { field: "anyway", message: "it matches nothing that is known, which has to be confirmed" };
const NOTHING_TYPED = { matchers: "", comment: "", custom: "", starts: "", ends: "", lasting: "1h" } as const;
const Typed = PreviewQuery.catch(NOTHING_TYPED);

/** The form with a preview of its matchers and its time; their problem is the form's unless it has another one. */
async function formOf(
  typed: z.infer<typeof PreviewQuery>,
  problem: FieldProblem | undefined,
  data: PageData,
  rules: ShownConfig["rules"],
): Promise<SilenceForm> {
  const names = await runYielding(namesOf(data.fleet));
  const matchers = matchersTyped(typed.matchers, names);
  const form = { ...typed, matchers, names };
  const none = { ...form, preview: undefined, span: undefined };
  if (matchers.trim() === "") return { ...none, problem };
  const read = readFields(MatchersField, { matchers });
  if ("problem" in read) return { ...none, problem: problem ?? read.problem };
  const parsed = read.fields.matchers;
  const span = spanOf(form, data.moment.now, data.moment.times.zoneFor(zoneOf(parsed, data.fleet.inventory)));
  const preview = { ...(await runYielding(previewOf(parsed, data, rules))), parsed };
  if ("field" in span) return { ...none, problem: problem ?? span, preview };
  return { ...form, problem, preview, span };
}

/** The end that the button named: pressed twice, or late, it means the same. */
const Extension = z.object({ until: z.iso.datetime().transform((written) => Date.parse(written)) });
