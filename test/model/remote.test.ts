import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "./any-text.ts";
import { normaliseRemote } from "../../src/model/remote.ts";

const same = [
  "https://example.org/team/shop",
  "https://example.org/team/shop.git",
  "https://example.org/team/shop.git/",
  "https://example.org/team/shop//",
  "https://EXAMPLE.org/team/shop",
  "HTTPS://example.org:443/team/shop",
  "https://example.org:/team/shop",
  "http://example.org/team/shop",
  "http://example.org:80/team/shop",
  "git://example.org/team/shop.git",
  "git://example.org:9418/team/shop.git",
  "ssh://git@example.org/team/shop",
  "ssh://git@example.org:22/team/shop.git",
  "git+ssh://git@example.org/team/shop.git",
  "git@example.org:team/shop.git",
  "git@Example.Org:/team/shop",
  "example.org:team/shop.git",
  "https://token@example.org/team/shop.git",
  "https://user:password@example.org/team/shop.git",
  "https://user@example.com:p%40ss@example.org/team/shop.git",
  "https://example.org/team/shop.git?private_token=abc",
  "https://example.org/team/shop#readme",
  "gcrypt::https://user:password@example.org/team/shop.git",
  "  https://example.org/team/shop.git\n",
];

const different = [
  "https://example.org/team/shop",
  "https://example.org/team/shop2",
  "https://example.org/team/Shop",
  "https://example.org/other/shop",
  "https://example.com/team/shop",
  "https://example.org:8443/team/shop",
  "ssh://git@example.org:2222/team/shop",
  "ssh://git@[2001:db8::1]/team/shop",
  "ssh://git@[2001:db8::2]/team/shop",
  "https://example.org/~team/shop",
  "/srv/git/shop.git",
  "/srv/git/Shop.git",
  "srv/git/shop.git",
  "../shop.git",
  "file://fileserver/srv/git/shop.git",
  "C:\\git\\shop",
  "D:\\git\\shop",
  "\\\\server\\git\\shop",
];

describe("the identity of a remote", () => {
  test.each(same)("is one for all addresses of one repository: %j", (address) => {
    expect(normaliseRemote(address)).toBe("example.org/team/shop");
  });

  test("differs for repositories that differ", () => {
    expect(new Set(different.map(normaliseRemote)).size).toBe(different.length);
  });

  test.each([
    ["/srv/git/shop.git", "/srv/git/shop"],
    ["/srv/git/shop/.git", "/srv/git/shop"],
    ["/srv/git/shop/", "/srv/git/shop"],
    ["file:///srv/git/shop.git", "/srv/git/shop"],
    ["file://localhost/srv/git/shop", "/srv/git/shop"],
    ["./with:colon/shop", "./with:colon/shop"],
    ["/", "/"],
    ["", ""],
  ])("is the path of a repository on this machine: %j", (address, identity) => {
    expect(normaliseRemote(address)).toBe(identity);
  });

  test.each([
    "C:\\git\\shop",
    "c:/git/shop/",
    "C:/git/shop.git",
    "file:///C:/git/shop.git",
    "file://c:/git/shop",
  ])("takes the letter of a drive for no host: %j", (address) => {
    expect(normaliseRemote(address)).toBe("c:/git/shop");
  });

  test("keeps an unusual port and an address in brackets", () => {
    expect(normaliseRemote("ssh://git@Example.org:2222/team/shop.git")).toBe("example.org:2222/team/shop");
    expect(normaliseRemote("ssh://git@[2001:DB8::1]:2222/team/shop")).toBe("[2001:db8::1]:2222/team/shop");
    expect(normaliseRemote("git@[2001:DB8::1]:team/shop.git")).toBe("[2001:db8::1]/team/shop");
  });

  test("holds no user and no password, however they are written", () => {
    const scheme = fc.constantFrom("https://", "http://", "ssh://", "helper::https://");
    // A slash ends the name of the host, so none can stand in a password.
    const secret = fc.stringMatching(/^[\w:@#?%+-]*hunter2$/);
    const rest = fc.constantFrom("example.org/team/shop.git", "example.org:8443/x", "example.org:port/x");
    fc.assert(
      fc.property(scheme, secret, rest, (start, password, end) => {
        expect(normaliseRemote(`${start}user:${password}@${end}`)).not.toContain("hunter2");
      }),
    );
  });

  test("is found for any text", () => {
    fc.assert(fc.property(anyText, (text) => typeof normaliseRemote(text) === "string"));
    expect(normaliseRemote(`https://${"@".repeat(5000)}/${"/".repeat(100_000)}x`)).toBe(`/x`);
  });
});
