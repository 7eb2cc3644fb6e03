import { LineCounter, parseDocument } from "yaml";
import type { YamlParser } from "../model/document.ts";

/** The parser of documents. A file of its own, so that only what reads a document loads it. */
export const yamlParser: YamlParser = { LineCounter, parseDocument };
