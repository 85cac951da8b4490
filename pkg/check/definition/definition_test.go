package definition

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

// schemaDefinition is a definition of one version with the given properties of its spec,
// each a line of YAML, and more documents beside it.
func schemaDefinition(t testing.TB, kind, spec string, more ...string) *check.Definition {
	t.Helper()
	return definitionWith(t, kind, "spec:\n  type: object\n  properties:\n"+indent(spec, 4)+"status: {type: object, properties: {phase: {type: string}}}\n", more...)
}

// definitionWith is a definition with the given properties at the top.
func definitionWith(t testing.TB, kind, properties string, more ...string) *check.Definition {
	t.Helper()
	plural := strings.ToLower(kind) + "s"
	doc := fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.test.example.org}
spec:
  group: test.example.org
  scope: Namespaced
  names: {plural: %[1]s, singular: %[2]s, kind: %[3]s, listKind: %[3]sList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
%[4]s`, plural, strings.ToLower(kind), kind, indent(properties, 10))
	w := checktest.Read(t, operator.Find, strings.Join(append([]string{doc}, more...), "\n---\n"))
	return w.Definition(plural + ".test.example.org")
}

func indent(text string, by int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.Repeat(" ", by) + line)
	}
	return b.String()
}

// said is what a rule says of a definition: fine, the values of what is wrong, or open.
func said(t testing.TB, d *check.Definition, id string) string {
	t.Helper()
	r := checktest.Only(t, Rules(), id, d.Check)
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Severity.String()+" "+f.Value)
	}
	for range r.Unknowns {
		out = append(out, "open")
	}
	if len(out) == 0 && len(r.Passed) > 0 {
		return "fine"
	}
	return strings.Join(out, "; ")
}

func TestImperative(t *testing.T) {
	for _, tt := range []struct{ name, kind, spec, want string }{
		{"at once", "Shop", "restartNow: {type: boolean}", "warning spec.restartNow"},
		{"at once, by text", "Shop", "backupNow: {type: string}", "warning spec.backupNow"},
		{"a flag", "Shop", "restart: {type: boolean}", "warning spec.restart"},
		{"requested (cass-operator)", "Shop", "rollingRestartRequested: {type: boolean}", "warning spec.rollingRestartRequested"},
		{"taken back", "Shop", "rolling: {type: boolean, description: The operator will set this back to false once the restart is in progress.}", "warning spec.rolling"},
		{"forced", "Shop", "forceRestart: {type: boolean}", "warning spec.forceRestart"},
		{"a backup", "Shop", "takeBackup: {type: boolean}", "warning spec.takeBackup"},
		{"a nonce (Flink)", "Shop", "restartNonce: {type: integer}", "info spec.restartNonce"},
		{"a nonce for savepoints (Flink)", "Shop", "job: {type: object, properties: {savepointTriggerNonce: {type: integer}}}", "info spec.job.savepointTriggerNonce"},
		{"a reason (Scylla)", "Shop", "forceRedeploymentReason: {type: string}", "info spec.forceRedeploymentReason"},
		{"an action with verbs", "Shop", "action: {type: string, enum: [start, stop, restart]}", "warning spec.action"},
		{"an action of any text", "Shop", "action: {type: string}", "info spec.action"},
		{"deep down", "Shop", "main: {type: object, properties: {db: {type: object, properties: {triggerBackup: {type: boolean}}}}}", "warning spec.main.db.triggerBackup"},

		{"what a policy does (Istio)", "AuthorizationPolicy", "action: {type: string, enum: [ALLOW, DENY, AUDIT, CUSTOM]}", "fine"},
		{"what a rule does (prometheus-operator)", "PodMonitor", "relabelings: {type: array, items: {type: object, properties: {action: {type: string, enum: [replace, keep, drop]}}}}", "fine"},
		{"what a rule does with any text", "Shop", "rules: {type: array, items: {type: object, properties: {action: {type: string}}}}", "fine"},
		{"what is done in case", "Shop", "action: {type: string, enum: [restart, stop], description: What is done when a probe fails.}", "fine"},
		{"a container", "Shop", "image: {type: string}\ncommand: {type: string}\nargs: {type: array, items: {type: string}}", "fine"},
		{"a container's list", "Shop", "command: {type: array, items: {type: string}}", "fine"},
		{"a restart policy", "Shop", "restartPolicy: {type: string, enum: [Always, Never]}", "fine"},
		{"pod management", "Shop", "podManagementPolicy: {type: string}", "fine"},
		{"states", "Shop", "paused: {type: boolean}\nsuspend: {type: boolean}\nstop: {type: boolean}\nrunning: {type: boolean}\nshutdown: {type: boolean}", "fine"},
		{"policies", "Shop", "force: {type: boolean}\nrestartOnChange: {type: boolean}\nrunAsNonRoot: {type: boolean}\nrunMigrations: {type: boolean}\ntriggerOnPush: {type: boolean}\nrequestLogging: {type: boolean}", "fine"},
		{"triggers as objects (KEDA)", "Shop", "triggers: {type: array, items: {type: object}}\ntrigger: {type: object}", "fine"},
		{"a time to restart (Rollouts)", "Shop", "restartAt: {type: string, format: date-time}", "fine"},
		{"a kind for one deed (KubeBlocks)", "OpsRequest", "type: {type: string, enum: [Start, Stop, Restart]}\naction: {type: string, enum: [start, stop]}", "fine"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := said(t, schemaDefinition(t, tt.kind, tt.spec+"\n"), "crd-imperative"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	beside := definitionWith(t, "Application", "spec: {type: object}\noperation: {type: object, properties: {sync: {type: object}}}\n")
	if got := said(t, beside, "crd-imperative"); got != "warning operation" {
		t.Errorf("an operation outside of the spec: %q", got)
	}
}

func TestEnumerationOf(t *testing.T) {
	for text, want := range map[string]string{
		"Must be one of Small, Medium or Large.":                     "Small Medium Large",
		"One of: \"a\", \"b\" or \"c\"":                              "a b c",
		"The mode. Valid values are 'always', 'never', and 'maybe'.": "always never maybe",
		"Possible values are P1, P2, P3, P4, and P5.":                "P1 P2 P3 P4 P5",
		"Supported values are NodePort or ClusterIP.":                "NodePort ClusterIP",
		"Valid values are always, never, auto":                       "always never auto",
		"Allowed values: `http` (the default), `grpc`.":              "http grpc",
		"Valid options are fast | slow":                              "fast slow",
		"May be\n  either Active or\n  Inactive.":                    "Active Inactive",

		"One of the fields below.":                                      "",
		"One of them or none of the others is set.":                     "",
		"A name, one of your choice, for example \"a\" or \"b\".":       "",
		"Valid values are any text such as \"a\", \"b\".":               "",
		"Valid values are \"a\", \"b\". Custom ones may be registered.": "",
		"Possible values are all integers.":                             "",
		"Supported values are Aws, Gcp and any other the plugin knows.": "",
		"Must be one of the names of the containers.":                   "",
		"The version. Must be either empty or a valid version.":         "",
		"":                        "",
		"One of A. B is another.": "",
	} {
		if got := strings.Join(enumerationOf(text), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestEnumerations(t *testing.T) {
	const tier = "Must be one of Small or Large."
	for _, tt := range []struct{ name, spec, want string }{
		{"only described", "tier: {type: string, description: " + tier + "}", "info spec.tier (Small, Large)"},
		{"listed", "tier: {type: string, description: " + tier + ", enum: [Small, Large]}", "fine"},
		{"by a pattern", "tier: {type: string, description: " + tier + ", pattern: ^(Small|Large)$}", ""},
		{"by alternatives", "tier: {type: string, description: " + tier + ", anyOf: [{enum: [Small]}, {enum: [Large]}]}", ""},
		{"by a rule above", "sizes: {type: object, x-kubernetes-validations: [{rule: \"self.tier in ['Small', 'Large']\"}], properties: {tier: {type: string, description: " + tier + "}}}", ""},
		{"fields to choose from", "certFile: {type: string, description: 'Only one of certFile, keyFile.'}\nkeyFile: {type: string}", ""},
		{"of no text", "tier: {type: integer, description: Must be one of Small or Large.}", ""},
	} {
		if got := said(t, schemaDefinition(t, "Shop", tt.spec+"\n"), "crd-enumerations"); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

const validatingHook = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: check.example.org
  rules: [{apiGroups: [%s], apiVersions: ["*"], resources: [%s], operations: [%s]}]
  clientConfig: {}
  sideEffects: None
  admissionReviewVersions: [v1]
`

func TestValidated(t *testing.T) {
	const plain = "name: {type: string}\nport: {type: integer, format: int32}\nparts: {type: array, items: {type: string}}\n"
	hook := func(group, resource, op string) string { return fmt.Sprintf(validatingHook, group, resource, op) }
	for _, tt := range []struct{ name, spec, more, want string }{
		{"types only", plain, "", "warning "},
		{"few fields", "name: {type: string}\n", "", "info "},
		{"only switches", "enabled: {type: boolean}\n", "", ""},
		{"required", "user: {type: object, required: [name], properties: {name: {type: string}}}\n", "", "fine"},
		{"a bound", plain + "size: {type: integer, minimum: 1}\n", "", "fine"},
		{"a rule", "user: {type: object, properties: {name: {type: string, x-kubernetes-validations: [{rule: self != ''}]}}}\n", "", "fine"},
		{"within a type of Kubernetes only", "users: {type: array, items: {type: object, properties: {key: {type: string}, operator: {type: string}, effect: {type: string}, value: {type: string}, tolerationSeconds: {type: integer}}}}\n" + plain, "", "warning "},
		{"a webhook", plain, hook("test.example.org", "shops", "CREATE"), "fine"},
		{"a webhook for all of the group", plain, hook("test.example.org", `"*"`, `"*"`), "fine"},
		{"a webhook for deletion", plain, hook("test.example.org", "shops", "DELETE"), "warning "},
		{"a webhook for another kind", plain, hook("test.example.org", "carts", "CREATE"), "warning "},
		{"a policy engine", plain, hook(`"*"`, `"*"`, "CREATE"), "warning "},
	} {
		more := []string{}
		if tt.more != "" {
			more = append(more, tt.more)
		}
		if got := said(t, schemaDefinition(t, "Shop", tt.spec, more...), "crd-validated"); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	open := definitionWith(t, "Shop", "spec: {type: object, x-kubernetes-preserve-unknown-fields: true}\n", hook("test.example.org", "shops", "CREATE"))
	if got := said(t, open, "crd-open-spec"); got != "info true" {
		t.Errorf("a webhook may refuse what an open spec takes: %q", got)
	}
	d := schemaDefinition(t, "Shop", plain)
	d.World.Read = func(gk schema.GroupKind, _ string) bool { return gk.Kind != "ValidatingWebhookConfiguration" }
	if got := said(t, d, "crd-validated"); got != "open" {
		t.Errorf("webhooks not read: %q", got)
	}
}

func TestSchemaPathLost(t *testing.T) {
	d := definitionWith(t, "Shop", `spec: {type: object, properties: {hosts: {type: array, items: {type: object, properties: {name: {type: string}}}}, ports: {type: object, additionalProperties: {type: object, properties: {number: {type: integer}}}}}}
status: {type: object, properties: {conditions: {type: array, items: {type: object, properties: {status: {type: string}}}}, raw: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`)
	for path, want := range map[string]string{
		".spec.hosts[*].name":                            "",
		".spec.hosts[0].name":                            "",
		".spec.hosts[0].port":                            "spec.hosts.port",
		".spec.ports.http.number":                        "",
		".spec.ports.http.name":                          "spec.ports.http.name",
		`.status.conditions[?(@.type=="Ready")].status`:  "",
		`.status.conditions[?(@.type=="Ready")].message`: "status.conditions.message",
		".status.raw.anything.at.all":                    "",
		".status.phase":                                  "status.phase",
		`.metadata.labels.app\.kubernetes\.io/name`:      "",
		"{.spec.hosts}":                                  "",
		"..name":                                         "",
		".spec..name":                                    "",
		"":                                               "",
	} {
		if got := schemaPathLost(schemaOf(d.Storage()).props, path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// TestBuiltInShapes takes every type of Kubernetes that is known, whole and altered.
func TestBuiltInShapes(t *testing.T) {
	object := func(fields []string) *apiextensionsv1.JSONSchemaProps {
		p := &apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
		for _, f := range fields {
			p.Properties[f] = apiextensionsv1.JSONSchemaProps{}
		}
		return p
	}
	for _, known := range schemaBuiltInFields() {
		var fields []string
		for f := range known {
			fields = append(fields, f)
		}
		slices.Sort(fields)
		if len(fields) > 1 && !schemaBuiltIn(object(fields)) {
			t.Errorf("%v is not taken for a type of Kubernetes", fields)
		}
		if schemaBuiltIn(object(append(fields, "somethingOfOurOwn"))) {
			t.Errorf("%v with a field of our own is taken for a type of Kubernetes", fields)
		}
		if len(fields) > 6 && !schemaBuiltIn(object(fields[1:])) {
			t.Errorf("%v without the first is not taken for a type of Kubernetes", fields)
		}
	}
	if schemaBuiltIn(object([]string{"name", "replicas"})) {
		t.Error("two common names are taken for a type of Kubernetes")
	}
}

// TestDefinitionCheckIsStable says that a definition is judged the same each time.
func TestDefinitionCheckIsStable(t *testing.T) {
	w := checktest.Read(t, operator.Find, checktest.Directory(t, "../testdata/bad"))
	rules := slices.Concat(consumabilityRules(), settableRules())
	for _, d := range w.Definitions {
		if a, b := d.Check(rules), d.Check(rules); !reflect.DeepEqual(findingsOf(a), findingsOf(b)) {
			t.Errorf("%s is judged in two ways", d.CRD.Name)
		}
	}
}

func findingsOf(s *check.Subject) []check.Finding {
	var out []check.Finding
	for _, r := range s.Results {
		out = append(out, r.Findings...)
	}
	return out
}
