/** The address of a repository as an identity: scheme, user, password, `.git`, host case and a last slash do not matter. */
export function normaliseRemote(remote: string): string {
  const trimmed = remote.trim();
  const url = /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/]*@)?([^/:]*)(?::(\d+))?\/*(.*)$/i.exec(trimmed);
  if (url !== null) {
    const [, host = "", port, path = ""] = url;
    const isUsual = port === undefined || port === "22" || port === "443" || port === "80";
    return `${host.toLowerCase()}${isUsual ? "" : `:${port}`}/${trimPath(path)}`;
  }
  const scp = /^(?:[^@/]*@)?([^/:]+):(?!\/\/)\/*(.*)$/.exec(trimmed);
  if (scp !== null) {
    const [, host = "", path = ""] = scp;
    return `${host.toLowerCase()}/${trimPath(path)}`;
  }
  return trimPath(trimmed);
}

function trimPath(path: string): string {
  return path
    .replace(/\/+$/, "")
    .replace(/\.git$/, "")
    .replace(/\/+$/, "");
}
