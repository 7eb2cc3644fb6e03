import type { PromptMessage, PromptPart } from "../../src/model/agent.ts";

/** Why a provider would refuse this conversation; undefined where none would. */
export function faultOfPrompt(prompt: readonly PromptMessage[]): string | undefined {
  const seen = new Set<string>();
  let open: string[] = [];
  for (const { role, parts } of prompt) {
    if (parts.length === 0) return "a message without parts";
    if (role !== "tool" && open.length > 0) return `calls without results: ${open.join(", ")}`;
    for (const part of parts) {
      const fault = faultOfPart(role, part, { seen, open });
      if (fault !== undefined) return fault;
    }
    if (role === "tool") {
      const answered = parts.flatMap((part) => (part.type === "tool_result" ? [part.call] : []));
      if (answered.join() !== open.join()) return "results do not answer the calls before, in their order";
      open = [];
    } else open = parts.flatMap((part) => (part.type === "tool_call" ? [part.call] : []));
  }
  return open.length > 0 ? "the last calls have no results" : undefined;
}

function faultOfPart(
  role: PromptMessage["role"],
  part: PromptPart,
  { seen, open }: { seen: Set<string>; open: readonly string[] },
): string | undefined {
  switch (part.type) {
    case "text":
      return part.text.trim() === "" ? "an empty text" : undefined;
    case "tool_call":
      if (role !== "assistant") return "a call that is not the assistant's";
      if (seen.has(part.call)) return `the call id ${part.call} comes twice`;
      seen.add(part.call);
      return /^[\w-]{1,64}$/.test(part.call) && /^[\w-]{1,64}$/.test(part.tool)
        ? undefined
        : "an unusable name";
    case "tool_result":
      if (role !== "tool" || !open.includes(part.call)) return "a result without its call";
      return part.output.trim() === "" ? "an empty result" : undefined;
    case "reasoning":
      return part.text === "" && part.signature === undefined && part.providerMetadata === undefined
        ? "reasoning that is nothing"
        : undefined;
    case "image":
      return undefined;
  }
}
