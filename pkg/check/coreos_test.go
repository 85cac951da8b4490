package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// resultText is a result in a few words: the findings, or fine, open or nothing.
func resultText(r *Result) string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, fmt.Sprintf("%s %s %s=%s", f.Severity, f.Object.Name, f.Field, f.Value))
	}
	for _, o := range r.Passed {
		out = append(out, "fine "+o.Name)
	}
	for _, o := range r.Unknowns {
		out = append(out, "open "+o.Object.Name)
	}
	return strings.Join(out, "; ")
}

func expectResult(t *testing.T, r *Result, want string) {
	t.Helper()
	if got := resultText(r); got != want {
		t.Errorf("%s says\n  %s, want\n  %s", r.Rule.ID, got, want)
		for _, f := range r.Findings {
			t.Log(f.Message)
		}
		for _, o := range r.Unknowns {
			t.Log(o.Reason)
		}
	}
}

// TestLostFields compares schemas as the API server prunes.
func TestLostFields(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"equal":                 {"{spec: {properties: {a: {type: string}}}}", "{spec: {properties: {a: {type: string}}}}", ""},
		"one field":             {"{spec: {properties: {a: {}, b: {}}}}", "{spec: {properties: {a: {}}}}", "spec.b"},
		"the topmost":           {"{spec: {properties: {a: {properties: {b: {}}}}}}", "{spec: {properties: {}}}", "spec.a"},
		"more on the other":     {"{spec: {properties: {a: {}}}}", "{spec: {properties: {a: {}, b: {}}}}", ""},
		"kept unknown":          {"{spec: {properties: {a: {}}}}", "{spec: {x-kubernetes-preserve-unknown-fields: true}}", ""},
		"kept below only":       {"{spec: {properties: {a: {}, b: {properties: {c: {}}}}}}", "{spec: {properties: {b: {x-kubernetes-preserve-unknown-fields: true}}}}", "spec.a"},
		"kept, but known below": {"{spec: {properties: {b: {properties: {c: {}}}}}}", "{spec: {x-kubernetes-preserve-unknown-fields: true, properties: {b: {properties: {}}}}}", "spec.b.c"},
		"in a list":             {"{spec: {properties: {l: {items: {properties: {a: {}}}}}}}", "{spec: {properties: {l: {items: {properties: {b: {}}}}}}}", "spec.l[].a"},
		"in a map":              {"{spec: {properties: {m: {additionalProperties: {properties: {a: {}}}}}}}", "{spec: {properties: {m: {additionalProperties: {properties: {b: {}}}}}}}", "spec.m.*.a"},
		"a map to none":         {"{spec: {properties: {m: {additionalProperties: {type: string}}}}}", "{spec: {properties: {m: {type: object}}}}", "spec.m.*"},
		"fields to a map":       {"{spec: {properties: {m: {properties: {a: {}}}}}}", "{spec: {properties: {m: {additionalProperties: {type: string}}}}}", ""},
		"metadata is the API's": {"{metadata: {properties: {name: {}}}, kind: {}, apiVersion: {}}", "{}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(text string) *apiextensionsv1.JSONSchemaProps {
				s := &apiextensionsv1.JSONSchemaProps{}
				if err := yaml.UnmarshalStrict([]byte("properties: "+text), s); err != nil {
					t.Fatal(err)
				}
				return s
			}
			if got := strings.Join(coreosLost(read(c.from), read(c.to)), " "); got != c.want {
				t.Errorf("lost %q, want %q", got, c.want)
			}
			if lost := coreosLost(read(c.from), read(c.from)); len(lost) > 0 {
				t.Errorf("to itself it loses %q", lost)
			}
		})
	}
}

const versionsCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cars.x.example}
spec:
  group: x.example
  scope: Namespaced
  names: {plural: cars, kind: Car}
%s
status: {storedVersions: [v1]}
`

func TestVersionsConvert(t *testing.T) {
	const same = `
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}}}, status: {type: object, properties: {s: {type: string}}}}}}}
  - {name: v2, served: %s, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}%s}}, status: {type: object, properties: {s: {type: string}%s}}}}}}`
	for name, c := range map[string]struct{ spec, want string }{
		"equal":       {fmt.Sprintf(same, "true", "", ""), "fine cars.x.example"},
		"one more":    {fmt.Sprintf(same, "true", ", b: {type: string}", ""), "warning cars.x.example spec.versions[1].schema.openAPIV3Schema=spec.b"},
		"of status":   {fmt.Sprintf(same, "true", "", ", b: {type: string}"), "info cars.x.example spec.versions[1].schema.openAPIV3Schema=status.b"},
		"not served":  {fmt.Sprintf(same, "false", ", b: {type: string}", ""), "fine cars.x.example"},
		"a webhook":   {"  conversion: {strategy: Webhook}" + fmt.Sprintf(same, "true", ", b: {type: string}", ""), "open cars.x.example"},
		"all is kept": {"  preserveUnknownFields: true" + fmt.Sprintf(same, "true", ", b: {type: string}", ""), "fine cars.x.example"},
	} {
		t.Run(name, func(t *testing.T) {
			w := readWorld(t, findOperators, fmt.Sprintf(versionsCRD, c.spec))
			expectResult(t, only(t, Rules(), "crd-versions-convert", w.definition("cars.x.example").Check), c.want)
		})
	}
}

const (
	webhookPods = `
apiVersion: v1
kind: Namespace
metadata: {name: ops, labels: {kind: system}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Pod
metadata: {name: runner-1, namespace: ops, labels: {app: runner}}
spec: {serviceAccountName: runner, containers: [{name: main, image: "acme/runner:1"}]}
status: {phase: Running, conditions: [{type: Ready, status: "%s"}]}
---
apiVersion: v1
kind: Service
metadata: {name: hook, namespace: ops}
spec: {selector: {app: runner}, ports: [{port: %d}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, injected: "yes"}}
    spec: {containers: [{name: web, image: "acme/web:1"}]}
---
`
	webhookConfig = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: one.example.com
  clientConfig: {service: {namespace: ops, name: hook}, caBundle: Y2E=}
  admissionReviewVersions: [v1]
  sideEffects: None
%s
---
`
)

// TestWebhooks holds what is said of an operator's webhooks.
func TestWebhooks(t *testing.T) {
	const pods = "  rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]\n"
	widgets := yamlDefinition("widgets.acme.example.org", "Widget", "") + yamlGrant("runner", "ops/runner", "acme.example.org", "widgets, widgets/status", full)
	for name, c := range map[string]struct {
		ready    string
		port     int
		webhook  string
		unread   string
		id, want string
	}{
		"pods of all": {id: "operator-webhook-pods", webhook: pods, want: "error hooks webhooks[0].failurePolicy=Fail"},
		"everything":  {id: "operator-webhook-pods", webhook: "  rules: [{apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*']}]\n", want: "error hooks webhooks[0].failurePolicy=Fail"},
		"pods of others": {
			id: "operator-webhook-pods", want: "warning hooks webhooks[0].failurePolicy=Fail",
			webhook: pods + "  namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [ops]}]}\n",
		},
		"by a label of pods":         {id: "operator-webhook-pods", webhook: pods + "  objectSelector: {matchLabels: {injected: 'yes'}}\n", want: "warning hooks webhooks[0].failurePolicy=Fail"},
		"by a label nobody has":      {id: "operator-webhook-pods", webhook: pods + "  objectSelector: {matchLabels: {injected: 'no'}}\n", want: "fine hooks"},
		"ignored":                    {id: "operator-webhook-pods", webhook: pods + "  failurePolicy: Ignore\n", want: "fine hooks"},
		"only when changed":          {id: "operator-webhook-pods", webhook: strings.Replace(pods, "CREATE", "UPDATE", 1), want: ""},
		"only cluster-wide":          {id: "operator-webhook-pods", webhook: strings.Replace(pods, "resources: [pods]", "resources: ['*'], scope: Cluster", 1), want: ""},
		"deployments":                {id: "operator-webhook-pods", webhook: strings.Replace(strings.Replace(pods, "''", "apps", 1), "[pods]", "['*']", 1), want: ""},
		"conditions":                 {id: "operator-webhook-pods", webhook: pods + "  matchConditions: [{name: a, expression: 'true'}]\n", want: "open hooks"},
		"namespaces unread":          {id: "operator-webhook-pods", webhook: pods + "  namespaceSelector: {matchLabels: {kind: system}}\n", unread: "Namespace", want: "open hooks"},
		"answers":                    {id: "operator-webhook-reachable", webhook: pods, want: "fine hooks"},
		"not ready":                  {id: "operator-webhook-reachable", ready: "False", webhook: pods, want: "error hooks webhooks[0].clientConfig.service=ops/hook"},
		"not ready, and ignored":     {id: "operator-webhook-reachable", ready: "False", webhook: pods + "  failurePolicy: Ignore\n", want: "warning hooks webhooks[0].clientConfig.service=ops/hook"},
		"no bundle":                  {id: "operator-webhook-reachable", webhook: pods, want: "warning hooks webhooks[0].clientConfig.caBundle="},
		"a manifest":                 {id: "operator-webhook-reachable", webhook: pods, want: "open hooks"},
		"no such port":               {id: "operator-webhook-reachable", port: 8443, webhook: pods, want: "error hooks webhooks[0].clientConfig.service=ops/hook"},
		"ten seconds":                {id: "operator-webhook-timeout", webhook: pods + "  timeoutSeconds: 10\n", want: "fine hooks"},
		"thirty":                     {id: "operator-webhook-timeout", webhook: pods + "  timeoutSeconds: 30\n", want: "info hooks webhooks[0].timeoutSeconds=30"},
		"left over, of its kinds":    {id: "operator-webhook-reachable", webhook: strings.NewReplacer("''", "acme.example.org", "pods", "widgets").Replace(pods), unread: "Service", want: "open hooks"},
		"somebody else's altogether": {id: "operator-webhook-timeout", webhook: pods, unread: "Service", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.ready == "" {
				c.ready = "True"
			}
			if c.port == 0 {
				c.port = 443
			}
			config := fmt.Sprintf(webhookConfig, c.webhook)
			switch name {
			case "no bundle":
				config = strings.NewReplacer(", caBundle: Y2E=", "", "name: hooks", "name: hooks, uid: a1").Replace(config)
			case "a manifest":
				config = strings.Replace(config, ", caBundle: Y2E=", "", 1)
			}
			w := operatorsWorld(t, widgets+fmt.Sprintf(webhookPods, c.ready, c.port)+config, c.unread)
			expectResult(t, only(t, Rules(), c.id, w.Operators()[0].Check), c.want)
		})
	}
}

// TestConversionWebhook looks at who converts.
func TestConversionWebhook(t *testing.T) {
	const two = "  versions: [{name: v1, served: true, storage: true}, {name: v2, served: true, storage: false}]"
	conversion := func(client string) string {
		return "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {" + client + "}}}\n"
	}
	for name, c := range map[string]struct {
		spec   string
		ready  string
		unread string
		want   string
	}{
		"none":         {spec: two, want: ""},
		"answers":      {spec: conversion("service: {namespace: ops, name: hook}, caBundle: Y2E=") + two, want: "fine cars.x.example"},
		"no bundle":    {spec: conversion("service: {namespace: ops, name: hook}") + two, want: "warning cars.x.example spec.conversion.webhook.clientConfig.caBundle="},
		"a manifest":   {spec: conversion("service: {namespace: ops, name: hook}") + two, want: "open cars.x.example"},
		"no Service":   {spec: conversion("service: {namespace: ops, name: gone}, caBundle: Y2E=") + two, want: "error cars.x.example spec.conversion.webhook.clientConfig.service=ops/gone"},
		"not ready":    {spec: conversion("service: {namespace: ops, name: hook}, caBundle: Y2E=") + two, ready: "False", want: "error cars.x.example spec.conversion.webhook.clientConfig.service=ops/hook"},
		"never called": {spec: conversion("service: {namespace: ops, name: gone}, caBundle: Y2E=") + "  versions: [{name: v1, served: true, storage: true}]", want: "info cars.x.example spec.conversion.webhook.clientConfig.service=ops/gone"},
		"a URL":        {spec: conversion("url: 'https://example.com/'") + two, want: "open cars.x.example"},
		"pods unread":  {spec: conversion("service: {namespace: ops, name: hook}, caBundle: Y2E=") + two, unread: "Pod", want: "open cars.x.example"},
		"services too": {spec: conversion("service: {namespace: ops, name: hook}, caBundle: Y2E=") + two, unread: "Service", want: "open cars.x.example"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.ready == "" {
				c.ready = "True"
			}
			crd := fmt.Sprintf(versionsCRD, c.spec)
			if name == "no bundle" {
				crd = strings.Replace(crd, "name: cars.x.example", "name: cars.x.example, uid: a1", 1)
			}
			w := readWorld(t, findOperators, fmt.Sprintf(webhookPods, c.ready, 443)+crd, c.unread)
			expectResult(t, only(t, Rules(), "crd-conversion-webhook", w.definition("cars.x.example").Check), c.want)
		})
	}
}

const versionsInstance = `
---
apiVersion: x.example/v1
kind: Car
metadata: {name: red, namespace: shop, uid: 40000000-0000-0000-0000-000000000001}
%s
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: red, namespace: shop, generation: 2, uid: 40000000-0000-0000-0000-000000000002, ownerReferences: [{apiVersion: x.example/v1, kind: Car, name: red, uid: 40000000-0000-0000-0000-000000000001, controller: true}]}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: main, image: x}]}}}
status: {observedGeneration: %d, replicas: 1, currentRevision: a, updateRevision: a}
---
apiVersion: v1
kind: Pod
metadata: {name: red-0, namespace: shop, labels: {a: b}, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: red, uid: 40000000-0000-0000-0000-000000000002, controller: true}]}
spec: {containers: [{name: side, image: "acme/side:9.9.9"}, {name: main, image: "%s"}]}
status: {phase: Running}
`

// TestVersionActedOn compares what is stated with what runs.
func TestVersionActedOn(t *testing.T) {
	for name, c := range map[string]struct {
		object, image string
		generation    int
		want          string
	}{
		"the same":              {object: "spec: {version: 1.2.3}", image: "acme/car:1.2.3", want: "fine red"},
		"with a v":              {object: "spec: {version: 1.2.3}", image: "acme/car:v1.2.3-alpine", want: "fine red"},
		"a line of versions":    {object: "spec: {version: '15'}", image: "acme/car:15.4", want: "fine red"},
		"older":                 {object: "spec: {version: 1.3.0}", image: "registry:5000/acme/car:1.2.3", want: "warning red spec.version=1.3.0"},
		"older, being replaced": {object: "spec: {version: 1.3.0}", image: "acme/car:1.2.3", generation: 1, want: "open red"},
		"newer":                 {object: "spec: {version: 1.2.0}", image: "acme/car:1.2.3", want: "open red"},
		"numbers, not letters":  {object: "spec: {version: 1.10.0}", image: "acme/car:1.9.0", want: "warning red spec.version=1.10.0"},
		"another image's name":  {object: "spec: {version: 1.3.0}", image: "acme/engine:1.2.3", want: "open red"},
		"as the operator says":  {object: "spec: {version: 1.3.0}\nstatus: {version: 1.3.0}", image: "acme/engine:77", want: "fine red"},
		"an image":              {object: "spec: {image: 'acme/engine:5.1'}", image: "acme/engine:5.1", want: "fine red"},
		"an older image":        {object: "spec: {image: 'acme/engine:5.2'}", image: "acme/engine:5.1", want: "warning red spec.image=acme/engine:5.2"},
		"latest":                {object: "spec: {version: latest}", image: "acme/car:latest", want: "fine red"},
		"nothing stated":        {object: "spec: {size: 3}", image: "acme/car:1.2.3", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.generation == 0 {
				c.generation = 2
			}
			crd := fmt.Sprintf(versionsCRD, "  versions: [{name: v1, served: true, storage: true}]")
			w := readWorld(t, findOperators, crd+fmt.Sprintf(versionsInstance, c.object, c.generation, c.image))
			expectResult(t, only(t, Rules(), "crd-version-acted-on", w.definition("cars.x.example").Check), c.want)
		})
	}
}

// TestVersionPath finds the fields in which published kinds state a version.
func TestVersionPath(t *testing.T) {
	for name, want := range map[string]bool{
		"version": true, "image": true, "imageName": true, "kafkaVersion": true, "serverImage": true, "tag": true,
		"apiVersion": false, "imagePullPolicy": false, "imagePullSecrets": false, "minVersion": false, "replicas": false, "storage": false,
	} {
		if got := coreosStatesVersion(name); got != want {
			t.Errorf("%s states a version: %v", name, got)
		}
	}
	deep := &apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"kafka": {Properties: map[string]apiextensionsv1.JSONSchemaProps{"version": {Type: "string"}}},
		"tls":   {Properties: map[string]apiextensionsv1.JSONSchemaProps{"minVersion": {Type: "string"}}},
	}}
	if got := coreosVersionPath("spec", deep, 4); got != "spec.kafka.version" {
		t.Errorf("found %q", got)
	}
}

// TestVersionOrder: of two versions at most one is older, and none than itself.
func TestVersionOrder(t *testing.T) {
	versions := []string{"1.2", "1.2.0", "v1.2.3", "1.10", "2.0-rc.1", "2", "latest", "", "20240101", "1.2.3+build", "sha-abc.1"}
	for _, a := range versions {
		for _, b := range versions {
			if coreosIsOlder(a, b) && (coreosIsOlder(b, a) || coreosVersionsAgree(b, a)) {
				t.Errorf("%q is older than %q, and the other way round or equal", a, b)
			}
		}
	}
	if !slices.Equal(coreosNumbers("v1.10.3-rc.1"), []int{1, 10, 3}) {
		t.Errorf("numbers of v1.10.3-rc.1: %v", coreosNumbers("v1.10.3-rc.1"))
	}
}
