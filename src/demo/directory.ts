/** The demo's directory: a file of shops, and one of the names of camera servers and organisations. */

interface Place {
  readonly name: string;
  readonly organisation: string;
  readonly recordings: readonly { readonly cameraServer: string }[];
}

const MANAGERS = ["Joan Smith", "Femi Adeyemi", "Jörg Müller", "Niamh Byrne"];

/** The directory of the shops: the first half of them is the North. */
export function shopsCsv(locations: readonly Place[]): string {
  const rows = locations.map(({ name }, i) => {
    const region = i < locations.length / 2 ? "north" : "south";
    const phone = `+44 113 496 0${String(100 + i)}`;
    return [name, region, MANAGERS[i % MANAGERS.length], phone, "router in the stock room", `${region}@example.com`];
  });
  return quoted([["location", "region", "manager", "phone", "notes", "regional_email"], ...rows]);
}

/** The names of the camera servers, and of the one organisation. */
export function namesCsv(locations: readonly Place[]): string {
  const servers = new Set(locations.flatMap(({ recordings }) => recordings.map(({ cameraServer }) => cameraServer)));
  const organisations = new Set(locations.map(({ organisation }) => organisation));
  const rows = [
    ...[...servers].map((id, i) => [id, `edge-${i + 1}`]),
    ...[...organisations].map((id) => [id, "Example Stores"]),
  ];
  return quoted([["id", "name"], ...rows]);
}

/** CSV as people write it: a telephone number begins with `+`. */
function quoted(rows: readonly (readonly (string | undefined)[])[]): string {
  return rows.map((row) => `${row.map((cell) => `"${cell?.replaceAll('"', '""')}"`).join(",")}\n`).join("");
}
