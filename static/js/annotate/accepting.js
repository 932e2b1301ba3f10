// What has to be agreed to or read before the next task; a version that was replaced meanwhile is shown anew.

import { warn } from "./page.js";

export const accepting =
  (ask) =>
  async ({ what, version }) => {
    const refused = await ask("accept/", () => ({ what, version: Number(version) }));
    if (refused) warn(refused.error, "Show it again", () => ask("next/"));
  };
