import { Document, visit } from "yaml";
import type { Cassette } from "../model/cassette.ts";

/** A cassette as the text of a file: what its reader makes of it is the cassette again, to the last code unit. */

/** What a file of answers is written in. */
export type CassetteForm = "yaml" | "json";

/**
 * Characters that nobody sees and editors change, and those that a terminal would obey. In quotes they are written as
 * escapes, which YAML and JSON have in common.
 */
const unseen = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
/** Of those, the ones for which the writer of YAML would take no quotes; and blanks alone, of which a block loses some. */
const needsQuotes = /[\u2028\u2029\ufeff\ufffe\uffff]|^\s+$/;

/** The text of a cassette, with its end of line. */
export function writeCassette({ turns }: Cassette, form: CassetteForm): string {
  const file = { cassette: 1, turns };
  const text = form === "json" ? `${JSON.stringify(file, null, 2)}\n` : yamlOf(file);
  return text.replaceAll(unseen, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Long texts as blocks that can be read and changed, a line of them a line of the file. */
function yamlOf(file: object): string {
  const document = new Document(file);
  visit(document, {
    Scalar: (_, scalar) => {
      const { value } = scalar;
      if (typeof value === "string" && needsQuotes.test(value)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  // In quotes a line stays one: broken lines lose blanks.
  return document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.POSITIVE_INFINITY });
}
