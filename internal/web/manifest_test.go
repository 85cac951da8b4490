package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/demotest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/source"
)

// parse reads an object as the API server gives it.
func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// squeezed is a manifest without what its layout says.
func squeezed(text []byte) string {
	return strings.Join(strings.Fields(string(text)), " ")
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
  namespace: web
  uid: 11111111-2222-3333-4444-555555555555
  generation: 3
  creationTimestamp: "2026-09-03T10:05:12Z"
  labels: {app: shop}
  finalizers: [example.dev/hold]
  annotations:
    deployment.kubernetes.io/revision: "7"
    owner.example.dev/contact: MARKER
    kubectl.kubernetes.io/last-applied-configuration: '{"spec": "MARKER"}'
  managedFields: [{manager: MARKER}]
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}, matchExpressions: [{key: tier, operator: In, values: [front]}]}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: shop}, annotations: {vault.example.dev/secret: MARKER}}
    spec:
      serviceAccountName: shop
      imagePullSecrets: [{name: registry}]
      nodeSelector: {disk: ssd}
      tolerations: [{key: gpu, operator: Equal, value: "true", effect: NoSchedule}]
      initContainers:
      - {name: migrate, image: "reg.example.dev:5000/migrate@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", command: [sh, -c, MARKER]}
      containers:
      - name: shop
        image: reg.example.dev/shop:1.2
        args: [--password=MARKER, MARKER]
        env:
        - {name: PASSWORD, value: MARKER}
        - {name: USER, valueFrom: {secretKeyRef: {name: shop-db, key: user}}}
        - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
        envFrom: [{secretRef: {name: shop-env}}]
        ports: [{name: http, containerPort: 8080, protocol: TCP}]
        readinessProbe:
          httpGet: {path: /ready, port: http, httpHeaders: [{name: Authorization, value: MARKER}]}
          periodSeconds: 5
        livenessProbe: {exec: {command: [MARKER]}}
        resources: {requests: {cpu: 100m, memory: 1Gi}, limits: {nvidia.com/gpu: "1"}}
        volumeMounts: [{name: config, mountPath: /etc/shop, subPath: a/b}]
        securityContext: {runAsUser: 1000, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
      volumes:
      - {name: config, configMap: {name: shop, items: [{key: shop.conf, path: shop.conf}]}}
      - {name: keys, secret: {secretName: shop-keys, defaultMode: 420, items: [{key: tls.key, path: key.pem}]}}
      - {name: own, projected: {sources: [{serviceAccountToken: {path: token, expirationSeconds: 3607}}]}}
status:
  readyReplicas: 1
  conditions:
  - {type: Available, status: "False", reason: MinimumReplicasUnavailable, lastTransitionTime: "2026-09-03T10:05:12Z", message: 'pulled https://bob:MARKER@reg.example.dev/v2: it has not.'}
`

func TestManifestIsUseful(t *testing.T) {
	in := parse(t, deployment)
	before := parse(t, deployment)
	text, hidden := Manifest(in)
	if !reflect.DeepEqual(in, before) {
		t.Error("it changed what it read")
	}
	got := squeezed(text)
	if strings.Contains(got, "MARKER") || strings.Contains(got, "last-applied") || strings.Contains(got, "managedFields") {
		t.Errorf("it shows\n%s", text)
	}
	for _, want := range []string{
		"name: shop", "namespace: web", "uid: 11111111-2222-3333-4444-555555555555", "generation: 3", "creationTimestamp: \"2026-09-03T10:05:12Z\"", "labels: app: shop", "- example.dev/hold",
		`deployment.kubernetes.io/revision: "7"`, "owner.example.dev/contact: (hidden)", "replicas: 2", "matchLabels: app: shop", "key: tier operator: In values: - front",
		"type: RollingUpdate", "maxSurge: 25%", "serviceAccountName: shop", "imagePullSecrets: - name: registry", "disk: ssd", `effect: NoSchedule key: gpu operator: Equal value: "true"`,
		"image: reg.example.dev:5000/migrate@sha256:0123456789abcdef", "image: reg.example.dev/shop:1.2", "- name: PASSWORD value: (hidden)", "secretKeyRef: key: user name: shop-db",
		"fieldPath: status.podIP", "secretRef: name: shop-env", "containerPort: 8080", "path: /ready", "port: http", "- name: Authorization value: (hidden)", "periodSeconds: 5",
		"cpu: 100m memory: 1Gi", `nvidia.com/gpu: "1"`, "mountPath: /etc/shop", "subPath: a/b", "runAsUser: 1000", "readOnlyRootFilesystem: true", "drop: - ALL", "key: shop.conf path: shop.conf",
		"defaultMode: 420", "key: tls.key path: key.pem", "secretName: shop-keys", "expirationSeconds: 3607 path: token", "readyReplicas: 1",
		`status: "False" type: Available`, "reason: MinimumReplicasUnavailable", "https://(hidden)@reg.example.dev/v2: it has not.", "args: - (hidden) - (hidden)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not show %s", want)
		}
	}
	// Two annotations with the copy, one of the template, three of a command, two arguments, one
	// variable, a header, a probe's command, and a password in a message.
	if hidden != 12 {
		t.Errorf("%d are hidden:\n%s", hidden, text)
	}
}

// TestManifestHides has what must not be shown, each with one MARKER or more.
func TestManifestHides(t *testing.T) {
	for label, object := range map[string]string{
		"data of a Secret":         `{apiVersion: v1, kind: Secret, type: Opaque, metadata: {name: a}, data: {name: MARKER, pin: 1234MARKER}, stringData: {image: MARKER}}`,
		"data of a ConfigMap":      `{apiVersion: v1, kind: ConfigMap, data: {name: MARKER}, binaryData: {image: MARKER}}`,
		"a list of them":           `{apiVersion: v1, kind: List, items: [{kind: Secret, data: {name: MARKER}}, {kind: ConfigMap, data: {type: MARKER}}]}`,
		"a template of them":       `{kind: SealedSecret, spec: {encryptedData: {name: MARKER}, template: {metadata: {name: a, annotations: {x: MARKER}}, data: {name: MARKER}}}}`,
		"credentials":              `{spec: {password: MARKER, token: MARKER, apiKey: MARKER, auth: {basic: {user: MARKER, phase: MARKER}}, credentials: [{type: MARKER}], secret: MARKER, key: MARKER}}`,
		"a key of one":             `{spec: {secret: {key: MARKER}, tokens: {type: MARKER}}}`,
		"an address with one":      `{spec: {host: "bob:MARKER@db", name: "https://bob:MARKER@db/x", image: "https://MARKER@reg/x", url: "https://db/?t=MARKER", path: "/x?t=MARKER"}}`,
		"words of unknown fields":  `{spec: {connectionString: MARKER, dsn: MARKER, config: MARKER, values: {a: {b: [MARKER]}}, description: MARKER, list: [MARKER]}}`,
		"sentences as names":       `{spec: {name: "a MARKER"}, metadata: {labels: {a: "a MARKER"}, other: MARKER, selfLink: MARKER}}`,
		"environments":             `{spec: {env: {name: MARKER, valueFrom: MARKER, A: {value: MARKER, name: B}}, extraEnvVars: [{name: A, value: MARKER}, "A=MARKER", [MARKER]]}}`,
		"names and values":         `{spec: {parameters: [{name: password, value: MARKER}], set: {value: MARKER}}}`,
		"keys that are none":       `{spec: {"MARKER and more": {a: b}, "-----BEGIN MARKER": c}}`,
		"a token for a name":       `{spec: {name: "ghp_MARKERMARKERMARKER", image: "eyJhbGciOiJI.MARKER", version: "AKIAMARKERMARKERMAR"}}`,
		"a key":                    `{spec: {name: "-----BEGIN:MARKER"}}`,
		"a token in a message":     `{status: {message: "no: eyJhbGciOiJIMARKER.eyJzdWIi", error: "postgres://u:MARKER@db/x and redis://:MARKER@r"}}`,
		"a credential of a status": `{status: {adminPassword: MARKER, token: {reason: MARKER, message: MARKER}, connection: "MARKER-1"}}`,
		"copies":                   `{metadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: MARKER, banzaicloud.com/last-applied: MARKER, deployment.kubernetes.io/revision: "a MARKER"}}}`,
		"a user":                   `{spec: {userName: MARKER, username: MARKER, loginName: MARKER, adminUserName: MARKER}}`,
	} {
		text, hidden := Manifest(parse(t, object))
		if strings.Contains(string(text), "MARKER") {
			t.Errorf("%s is shown:\n%s", label, text)
		}
		if least := strings.Count(object, "MARKER") - strings.Count(object, "MARKERMARKER"); hidden < 1 || strings.Count(object, "MARKERMARKER") == 0 && hidden < least {
			t.Errorf("%s: %d are hidden, not %d", label, hidden, least)
		}
	}
}

// TestAnnotationsThatAreShown: those that controllers and usual tools write have their values,
// all others their names alone.
func TestAnnotationsThatAreShown(t *testing.T) {
	text, hidden := Manifest(parse(t, `{kind: Deployment, metadata: {name: a, annotations: {deployment.kubernetes.io/revision: "7", meta.helm.sh/release-name: web, example.com/contact: MARKER}}}`))
	for _, want := range []string{`deployment.kubernetes.io/revision`, "meta.helm.sh/release-name", "example.com/contact", "web"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not shown:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "MARKER") || hidden != 1 {
		t.Errorf("%d are hidden:\n%s", hidden, text)
	}
}

func TestManifestHidesNumbers(t *testing.T) {
	for _, object := range []string{
		`{spec: {password: 77123}}`, `{spec: {pin: 77123}}`, `{spec: {credentials: {account: {number: 77123}}}}`, `{spec: {env: {A: 77123, B: {value: 77123}}}}`,
		`{spec: {env: [{name: A, value: 77123}]}}`, `{data: {a: 77123}}`, `{spec: {parameters: [{name: pin, value: 77123}]}}`, `{metadata: {annotations: {a: 77123}, b: 77123}}`,
		`{spec: {password: "77123"}}`, `{spec: {pin: "77123"}}`, `{spec: {parameters: [{name: pin, value: "77123"}]}}`, `{spec: {limits: {password: "77123", token: "77123"}, pins: "77123"}}`,
	} {
		if text, hidden := Manifest(parse(t, object)); strings.Contains(string(text), "77123") || hidden == 0 {
			t.Errorf("%s: %d are hidden:\n%s", object, hidden, text)
		}
	}
	if text, hidden := Manifest(parse(t, `{spec: {keySize: 2048, maxConnections: 77123, on: true, since: null, none: "", target: {value: 5}}, value: 10}`)); hidden != 0 || !strings.Contains(string(text), "77123") {
		t.Errorf("%d are hidden:\n%s", hidden, text)
	}
}

func TestManifestSizes(t *testing.T) {
	text, hidden := Manifest(parse(t, `{apiVersion: v1, kind: ConfigMap, data: {a.conf: "12345", b: ""}}`))
	if got := squeezed(text); hidden != 2 || !strings.Contains(got, "a.conf: (hidden, 5 bytes) b: (hidden, 0 bytes)") {
		t.Errorf("%d: %s", hidden, got)
	}
	text, hidden = Manifest(parse(t, `{apiVersion: v1, kind: Secret, type: kubernetes.io/tls, data: {tls.crt: YQ==, tls.key: YQ==}}`))
	if got := squeezed(text); hidden != 2 || !strings.Contains(got, "tls.crt: (hidden) tls.key: (hidden) kind: Secret type: kubernetes.io/tls") {
		t.Errorf("%d: %s", hidden, got)
	}
}

func TestManifestOfOthers(t *testing.T) {
	for object, wants := range map[string][]string{
		`{kind: Event, reason: BackOff, message: "Back-off restarting failed container", note: a b}`:                                            {"message: Back-off restarting failed container", "note: a b", "reason: BackOff"},
		`{kind: ControllerRevision, data: {spec: {template: {$patch: replace, spec: {containers: [{image: a, env: [{name: A, value: b}]}]}}}}}`: {"env: - name: A value: (hidden) image: a"},
		`{kind: Certificate, spec: {usages: [server auth]}, status: {notAfter: "2026-09-03T10:05:12Z"}}`:                                        {`notAfter: "2026-09-03T10:05:12Z"`},
		`{kind: Any, spec: {tlsSecret: shop-tls, clientSecret: abc, region: eu-1}}`:                                                             {"clientSecret: (hidden)", "tlsSecret: shop-tls", "region: eu-1"},
		`{kind: Other, message: "a b"}`:                                                                                             {"message: (hidden)"},
		`{kind: CronJob, spec: {schedule: "*/5 * * * *", timeZone: Europe/Berlin}}`:                                                 {"schedule: '*/5 * * * *'", "timeZone: Europe/Berlin"},
		`{kind: Ingress, spec: {rules: [{host: shop.example.dev, http: {paths: [{path: /, pathType: Prefix}]}}]}}`:                  {"host: shop.example.dev", "path: / pathType: Prefix"},
		`{kind: EndpointSlice, endpoints: [{addresses: [10.0.0.1, "fd00::1", shop]}]}`:                                              {"- 10.0.0.1 - fd00::1 - (hidden)"},
		`{kind: Role, rules: [{apiGroups: [""], resources: [pods, "*"], verbs: [get]}]}`:                                            {`resources: - pods - '*' verbs: - get`},
		`{kind: Certificate, spec: {duration: 2160h, renewBefore: 360h0m0s, issuerRef: {name: ca, kind: Issuer}, secretName: tls}}`: {"duration: 2160h", "renewBefore: 360h0m0s", "issuerRef: kind: Issuer name: ca", "secretName: tls"},
		`{kind: CustomResourceDefinition, spec: {versions: [{name: v1, schema: {openAPIV3Schema: {description: a b}}}]}}`:           {"openAPIV3Schema: (a schema)"},
		`{kind: Any, spec: {existingSecret: db, passwordSecretRef: {name: db, key: password}, adminPassword: {name: db}}}`:          {"existingSecret: db", "passwordSecretRef: key: password name: db", "adminPassword: name: db"},
		`{kind: Any, status: {phase: Running, health: Green, state: up, message: "a\u202eb\u0007"}}`:                                {"health: Green", "message: a\uFFFDb\uFFFD", "phase: Running", "state: up"},
	} {
		text, _ := Manifest(parse(t, object))
		for _, want := range wants {
			if !strings.Contains(squeezed(text), want) {
				t.Errorf("%s shows no %s:\n%s", object, want, text)
			}
		}
	}
	if text, hidden := Manifest(map[string]any{"a": func() {}}); hidden != 1 || !strings.Contains(string(text), gone) {
		t.Errorf("what is no JSON: %s", text)
	}
}

// secretPlaces are ends of paths at which a text is never shown, whatever is above them.
var secretPlaces = []string{
	"password", "adminPassword", "token", "connectionString", "dsn", "url", "uri", "endpoint", "config", "args", "command", "script", "text", "comment", "description", "user", "username", "query", "body", "caBundle",
}

// TestMarkerNeverShows grows objects at random, of fields that are shown and of others, and puts a
// secret where secrets are.
func TestMarkerNeverShows(t *testing.T) {
	above := []string{"spec", "status", "template", "metadata", "containers", "volumes", "name", "image", "secret", "secretRef", "items", "values", "data", "env", "selector", "limits", "tolerations", "annotations", "auth", "config", "users", "conditions", "matchLabels"}
	harmlessly := map[string]any{"name": "shop", "image": "reg/shop:1", "replicas": 2, "type": "Opaque", "enabled": true}
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 2))
		// What looks like a word, like a choice, like a URL, like a version: forms are no way out.
		marker := fmt.Sprintf([]string{"Hunter%s", "hunter-%s", "https://bob:hunter%s@db/x", "hunter%s 1", "v1.hunter%s"}[r.IntN(5)], strings.Repeat("Z", 3+r.IntN(20)))
		end := secretPlaces[r.IntN(len(secretPlaces))]
		var v any = marker
		if r.IntN(4) == 0 {
			v = []any{marker, []any{marker}}
		}
		v = map[string]any{end: v}
		for range r.IntN(6) {
			key := above[r.IntN(len(above))]
			for labelled[key] && len(v.(map[string]any)) == 1 { // Labels are shown; those are no labels.
				key = above[r.IntN(len(above))]
			}
			m := maps.Clone(harmlessly)
			m[key] = v
			if r.IntN(3) == 0 {
				m[key] = []any{v, v}
			}
			v = m
		}
		object := map[string]any{"apiVersion": "example.dev/v1", "kind": "Thing", "metadata": map[string]any{"name": "a"}, "spec": v}
		// A status is shown more freely: words that look like a choice are. A password is none.
		if end == "password" || end == "token" || end == "adminPassword" {
			object["status"] = v
		}
		text, hidden := Manifest(object)
		if strings.Contains(string(text), marker) || strings.Contains(string(text), "unter") || hidden == 0 {
			in, _ := json.Marshal(object)
			t.Fatalf("seed %d: %s shows at %s\n%s\n%s", seed, marker, end, in, text)
		}
	}
}

// TestManifestOfDemo goes through the example: everything is written, what was there is named, and
// what is known to be harmless is there.
func TestManifestOfDemo(t *testing.T) {
	demo := demotest.FS()
	seen := 0
	for _, name := range []string{"10-cluster.json", "20-mysql.json", "30-moodle-1.json", "40-wordpress.json"} {
		f, err := demo.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := source.Parse(name, f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range docs {
			text, hidden := Manifest(d.Object)
			var decoded map[string]any
			if err := yaml.Unmarshal(text, &decoded); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			meta, was := decoded["metadata"].(map[string]any), d.Object["metadata"].(map[string]any)
			if decoded["kind"] != d.Object["kind"] || meta["name"] != was["name"] || meta["uid"] != was["uid"] {
				t.Errorf("%s: %v", name, decoded["kind"])
			}
			kind, _ := decoded["kind"].(string)
			if most := map[string]int{"ConfigMap": 8, "Deployment": 20, "StatefulSet": 30, "Pod": 40}[kind]; slices.Contains([]string{"Service", "PersistentVolumeClaim", "Endpoints", "ServiceAccount", "Namespace", "MysqlCluster"}, kind) && hidden > 3 || most > 0 && hidden > most {
				t.Errorf("%s %s: %d are hidden:\n%s", kind, meta["name"], hidden, text)
			}
			if kind == "Deployment" {
				seen++
				for _, want := range []string{"image: ", "replicas: ", "matchLabels:", "cpu: ", "containerPort: ", "path: /"} {
					if meta["name"] == "wordpress-importer" && (want == "containerPort: " || want == "path: /") {
						continue // It has neither.
					}
					if !strings.Contains(string(text), want) {
						t.Errorf("%s shows no %s:\n%s", meta["name"], want, text)
					}
				}
			}
		}
	}
	if seen == 0 {
		t.Error("the example has no Deployment")
	}
}
