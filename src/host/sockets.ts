/** Local stream sockets that carry one JSON value a line. */

/** One end of a connection. A line over {@link messageBytesMax}, or a line that is no JSON, closes it. */
export interface Connection {
  /** Queues a message; false where the connection has ended. Throws RangeError where it is over `messageBytesMax`. */
  send(message: unknown): boolean;
  /** Calls `message` for each one in order, `closed` exactly once. Messages that came before are kept until then. */
  onMessage(message: (value: unknown) => void, closed: () => void): void;
  /** Lets what was sent leave, takes no further message, then calls `closed`. */
  close(): void;
}

/** A socket that accepts connections. */
export interface Listener {
  /** Takes the name away; connections that stand go on. */
  close(): Promise<void>;
}

/** Longest message of a {@link Connection}, with its newline. */
export const messageBytesMax = 4 * 1024 * 1024;

/** Longest socket path: beyond it the platform cuts the path silently and reaches somebody else. */
export const socketPathBytesMax = 100;

/** Local sockets between processes of one user. */
export interface Sockets {
  /** A private, short directory for sockets (0700, owner checked), made when absent. Rejects where it is not ours. */
  directory(): Promise<string>;
  /** Rejects where the path is over 100 bytes or is listened on. A stale socket file of ours is replaced. */
  listen(path: string, accept: (connection: Connection) => void): Promise<Listener>;
  /** Rejects ENOENT or ECONNREFUSED where nobody listens. */
  connect(path: string): Promise<Connection>;
}
