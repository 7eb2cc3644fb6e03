import type { EngineContext } from "../../src/engine/index.ts";
import { createSession, type SessionRequest } from "../../src/engine/create-session.ts";
import type { SessionCreated } from "../../src/model/facts.ts";

/** Makes a session with another line 0 than a caller's flags can ask for; resolves to its id. */
export async function plantSession(
  engine: EngineContext,
  request: SessionRequest,
  change: (created: SessionCreated) => SessionCreated,
): Promise<string> {
  const store = new Proxy(engine.store, {
    get(target, key) {
      if (key === "create") {
        const create: typeof target.create = (made) =>
          target.create({ ...made, created: change(made.created) });
        return create;
      }
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
  return await createSession({ ...engine, store }, request);
}
