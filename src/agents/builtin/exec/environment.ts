import type { OperationPlace } from "../../../model/agent.ts";
import { isProviderKey, speaksOfSecret } from "../../../model/variable-names.ts";

/**
 * What a command sees of our environment: never a secret. Names that speak of secrets are removed, and so are sockets of
 * agents that sign for the user, files that hold a login of a cloud or a package registry, and files through which a CI
 * job passes values to its next steps. The user may name exceptions; a model provider's keys are none.
 */

/** Carried by every process of a command; its descendants are found by it. */
export const operationVariable = "HOLDFAST_OPERATION";

const removedNames = new Set([
  // Agents and helpers that act with the user's identity.
  "SSH_AUTH_SOCK",
  "SSH_AGENT_PID",
  "SSH_AGENT_LAUNCHER",
  "GPG_AGENT_INFO",
  "GPG_TTY",
  "KRB5CCNAME",
  "GIT_ASKPASS",
  "SSH_ASKPASS",
  "SUDO_ASKPASS",
  "DBUS_SESSION_BUS_ADDRESS",
  "VSCODE_GIT_IPC_HANDLE",
  // Files and places of a login to a cloud or a registry.
  "AWS_CONFIG_FILE",
  "AWS_PROFILE",
  "AWS_DEFAULT_PROFILE",
  "AZURE_CONFIG_DIR",
  "BOTO_CONFIG",
  "CLOUDSDK_CONFIG",
  "DOCKER_CONFIG",
  "HELM_REGISTRY_CONFIG",
  "KUBECONFIG",
  "NETRC",
  "NPM_CONFIG_USERCONFIG",
  "PIP_CONFIG_FILE",
  "TF_CLI_CONFIG_FILE",
  // Files and services of a CI job.
  "ACTIONS_CACHE_URL",
  "ACTIONS_RESULTS_URL",
  "ACTIONS_RUNTIME_URL",
  "BASH_ENV",
  "BUILDKITE_AGENT_ENDPOINT",
  "BUILDKITE_ENV_FILE",
  "DRONE_NETRC_FILE",
  "ENV",
  "GITHUB_ENV",
  "GITHUB_EVENT_PATH",
  "GITHUB_OUTPUT",
  "GITHUB_PATH",
  "GITHUB_STATE",
  "GITHUB_STEP_SUMMARY",
]);

const urlWithPassword = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s@:]*:[^/?#\s@]+@/i;

/** A secret shorter than this may stand in any value by chance. */
const secretLengthMin = 6;

/** An environment and what is known about it. */
export interface EnvironmentOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Exact names that are passed although the filter would remove them. */
  readonly passEnv: readonly string[];
  /** Known secret values: a variable that holds one is removed whatever its name. */
  readonly secrets: readonly string[];
}

/** The part of the environment that a command may see. */
export function filterEnvironment(options: EnvironmentOptions): Record<string, string> {
  const { environment, secrets } = options;
  const passed = new Set(options.passEnv);
  const entries = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const providerKeys = entries.filter(([name]) => isProviderKey(name)).map(([, value]) => value);
  const isAllowed = ([name, value]: [string, string]): boolean => {
    if (isProviderKey(name) || holdsAny(value, providerKeys)) return false;
    if (passed.has(name)) return true;
    return !isSecretName(name) && !urlWithPassword.test(value) && !holdsAny(value, secrets);
  };
  return Object.fromEntries(entries.filter(isAllowed));
}

/** What a command is told about where it runs. */
export function operationEnvironment(place: OperationPlace): Record<string, string> {
  return {
    HOLDFAST_SESSION: place.session,
    HOLDFAST_RUN: place.run,
    [operationVariable]: place.operation,
  };
}

function isSecretName(name: string): boolean {
  return speaksOfSecret(name) || removedNames.has(name.toUpperCase());
}

function holdsAny(value: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => secret.length >= secretLengthMin && value.includes(secret));
}
