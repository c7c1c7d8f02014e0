/** Shops as they are named on a high street, in a fixed order, so that a scenario can name them under any seed. */

export interface Place {
  readonly name: string;
  readonly timezone: string;
}

const BRITISH = [
  ["Leeds", "Briggate"],
  ["Manchester", "Market Street"],
  ["Bath", "Southgate"],
  ["York", "Coney Street"],
  ["Glasgow", "Buchanan Street"],
  ["Cardiff", "Queen Street"],
  ["Bristol", "Cabot Circus"],
  ["Edinburgh", "Princes Street"],
  ["Norwich", "Gentleman's Walk"],
  ["Oxford", "Cornmarket"],
  ["Nottingham", "Clumber Street"],
  ["Belfast", "Donegall Place"],
  ["Brighton", "Churchill Square"],
  ["Exeter", "Princesshay"],
  ["Liverpool", "Church Street"],
  ["Newcastle", "Northumberland Street"],
  ["Sheffield", "Fargate"],
  ["Cambridge", "Petty Cury"],
  ["London", "Oxford Street"],
  ["Chester", "Eastgate Row"],
  ["Derby", "St Peters Street"],
  ["Aberdeen", "Union Street"],
  ["Swansea", "Oxford Street"],
  ["Southampton", "Above Bar"],
] as const;

const ABROAD = [
  ["Dublin", "Grafton Street", "Europe/Dublin"],
  ["Paris", "Rue de Rivoli", "Europe/Paris"],
  ["New York", "Fifth Avenue", "America/New_York"],
  ["Madrid", "Gran Vía", "Europe/Madrid"],
  ["Mumbai", "Linking Road", "Asia/Kolkata"],
  ["Sydney", "Pitt Street", "Australia/Sydney"],
] as const;

const STREETS = [
  "High Street",
  "Station Road",
  "Victoria Centre",
  "Castle Quarter",
  "Riverside Park",
  "Market Place",
  "Kings Arcade",
  "Retail Park",
  "Bridge Street",
  "Northgate",
  "Priory Walk",
  "Harbour Outlet",
];

/** Every eighth shop, the sixth first, is abroad. */
const ABROAD_EVERY = 8;
const FIRST_ABROAD = 5;

/** The shop at an index from 0; every index has a name of its own. */
export function placeAt(index: number): Place {
  if (index % ABROAD_EVERY === FIRST_ABROAD) {
    const turn = Math.floor(index / ABROAD_EVERY);
    const [town, street, timezone] = ABROAD[turn % ABROAD.length] ?? ABROAD[0];
    return { name: nameIn(town, street, Math.floor(turn / ABROAD.length)), timezone };
  }
  const turn = index - Math.floor((index + ABROAD_EVERY - FIRST_ABROAD - 1) / ABROAD_EVERY);
  const [town, street] = BRITISH[turn % BRITISH.length] ?? BRITISH[0];
  return { name: nameIn(town, street, Math.floor(turn / BRITISH.length)), timezone: "Europe/London" };
}

function nameIn(town: string, street: string, round: number): string {
  if (round === 0) return `${town} ${street}`;
  const again = Math.floor((round - 1) / STREETS.length) + 1;
  const other = STREETS[(round - 1) % STREETS.length];
  return again === 1 ? `${town} ${other}` : `${town} ${other} ${again}`;
}

/** What a camera of a shop looks at: its short name and the taxonomy of the zone it covers. */
export interface View {
  readonly name: string;
  readonly taxonomy: string;
}

const VIEWS: readonly View[] = [
  { name: "Entrance", taxonomy: "Ground:Entrance:Main Door" },
  { name: "Tills", taxonomy: "Ground:Service:Tills" },
  { name: "Shoes", taxonomy: "Ground:Fashion:Shoes" },
  { name: "Womenswear", taxonomy: "First:Fashion:Womenswear" },
  { name: "Menswear", taxonomy: "First:Fashion:Menswear" },
  { name: "Homeware", taxonomy: "Second:Home:Homeware" },
  { name: "Beauty", taxonomy: "Ground:Beauty:Counter" },
  { name: "Fitting Rooms", taxonomy: "First:Service:Fitting Rooms" },
];

/** The view of a shop's camera at an index from 0. */
export function viewAt(index: number): View {
  const view = VIEWS[index % VIEWS.length] ?? { name: "Camera", taxonomy: "Ground:Other:Camera" };
  const round = Math.floor(index / VIEWS.length) + 1;
  return round === 1 ? view : { ...view, name: `${view.name} ${round}` };
}
