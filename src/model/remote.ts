/**
 * The address of a repository as an identity: two addresses of one repository give one text. Scheme, user, password,
 * usual port, host case, `.git`, query and a last slash do not matter; nothing secret is left in it. Paths on this
 * machine keep their case, but for the letter of a drive.
 */
export function normaliseRemote(remote: string): string {
  // A transport helper stands before the address: `helper::address`.
  const address = remote.trim().replace(/^(?:[A-Za-z0-9]+::)+/, "");
  const drive = /^(?:file:\/\/\/?)?([A-Za-z]):[\\/](.*)$/s.exec(address);
  if (drive !== null) {
    const [, letter = "", path = ""] = drive;
    return trimPath(`${letter.toLowerCase()}:/${path.replaceAll("\\", "/")}`);
  }
  return fromUrl(address) ?? fromScp(address) ?? trimPath(address);
}

const usualPorts: ReadonlySet<string | undefined> = new Set([undefined, "22", "80", "443", "9418"]);

/** `scheme://user:password@host:port/path?query` */
function fromUrl(address: string): string | undefined {
  const start = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address);
  if (start === null) return undefined;
  const [prefix, scheme = ""] = start;
  const url = /^(?:[^/]*@)?(\[[^\]/]*\]|[^/:]*)(?::(\d*))?(\/.*)?$/s.exec(address.slice(prefix.length));
  // Nothing can be fetched from it, but a password may still stand before the last at-sign.
  if (url === null) return trimPath(address.replace(/^.*@/s, ""));
  const [, host = "", port, rest = ""] = url;
  const path = rest.replace(/[?#].*$/s, "");
  const name = host.toLowerCase();
  if (scheme.toLowerCase() === "file") return trimPath(name === "localhost" ? path : name + path);
  const place = usualPorts.has(port === "" ? undefined : port) ? name : `${name}:${port}`;
  return joined(place, path);
}

/** `user@host:path`, as scp has it: the colon comes before any slash. */
function fromScp(address: string): string | undefined {
  const scp = /^(?:[^/]*@)?(\[[^\]/]*\]|[^/:@]+):(?!\/\/)(.*)$/s.exec(address);
  if (scp === null) return undefined;
  const [, host = "", path = ""] = scp;
  return joined(host.toLowerCase(), path);
}

function joined(host: string, path: string): string {
  let from = 0;
  while (path[from] === "/") from++;
  return trimPath(`${host}/${path.slice(from)}`);
}

function trimPath(path: string): string {
  const bare = withoutSlashes(path);
  return bare.endsWith(".git") ? withoutSlashes(bare.slice(0, -".git".length)) : bare;
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === "/") end--;
  return path.slice(0, end);
}
