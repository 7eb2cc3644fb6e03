import fc from "fast-check";

const awkward = [
  "\u0000",
  "\n",
  "\r\n",
  "\t",
  " ",
  "\u001b[2J",
  "\u200d",
  "\u202e",
  "\u2028",
  "\ufeff",
  "é",
  "修",
  "👧",
];

const unit = fc.oneof(
  fc.constantFrom(...awkward),
  fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
);

/** Any text that JSON can hold, lone surrogates too; what disturbs readers comes often. */
export const anyText = fc.array(unit, { maxLength: 40 }).map((units) => units.join(""));
