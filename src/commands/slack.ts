/** `slack manifest`: what creates the Slack app, at https://api.slack.com/apps. */
import { Command } from "commander";
import { asJson, type CommandIo, withExample } from "./cli/command.ts";

/** Scopes: to post; to find what was posted; to find a channel by its name, and its members. */
const slackManifest = {
  display_information: {
    name: "lenswatch",
    description: "Notifies when a camera recording goes offline, and when it is back.",
    background_color: "#1f2937",
  },
  features: { bot_user: { display_name: "lenswatch", always_online: true } },
  oauth_config: {
    scopes: { bot: ["chat:write", "channels:history", "groups:history", "channels:read", "groups:read"] },
  },
  settings: {
    interactivity: { is_enabled: true },
    org_deploy_enabled: false,
    socket_mode_enabled: true,
    token_rotation_enabled: false,
  },
};

export function slackCommand(io: CommandIo): Command {
  const manifest = new Command("manifest")
    .description("Print the manifest of the Slack app: create it at https://api.slack.com/apps, From a manifest.")
    .action(() => void io.stdout.write(asJson(slackManifest)));
  return new Command("slack")
    .description("Prepare the Slack app.")
    .addCommand(withExample(manifest, "lenswatch slack manifest"));
}
