import * as z from "zod/mini";

/** The formats of texts that a JSON Schema may name. */

const time = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Made when they are asked for: most sessions need none. */
const schemas = {
  date: () => z.iso.date(),
  "date-time": () => z.iso.datetime({ offset: true }),
  email: () => z.email(),
  ipv4: () => z.ipv4(),
  ipv6: () => z.ipv6(),
  time: () => z.string().check(z.regex(time)),
  uri: () => z.url(),
  uuid: () => z.guid(),
} as const;

/** The names of the formats. */
export const formatNames: readonly string[] = Object.keys(schemas);

/** True where the text has the format. */
export function hasFormat(text: string, format: string): boolean {
  const make = Object.hasOwn(schemas, format) ? schemas[format as keyof typeof schemas] : undefined;
  return make === undefined || make().safeParse(text).success;
}
