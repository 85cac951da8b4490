package definition

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

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
			if got := strings.Join(lostFields(read(c.from), read(c.to)), " "); got != c.want {
				t.Errorf("lost %q, want %q", got, c.want)
			}
			if lost := lostFields(read(c.from), read(c.from)); len(lost) > 0 {
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
			w := checktest.Read(t, operator.Find, fmt.Sprintf(versionsCRD, c.spec))
			checktest.ExpectResult(t, checktest.Only(t, Rules(), "crd-versions-convert", w.Definition("cars.x.example").Check), c.want)
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
			w := checktest.Read(t, operator.Find, fmt.Sprintf(checktest.WebhookPods, c.ready, 443)+crd, c.unread)
			checktest.ExpectResult(t, checktest.Only(t, Rules(), "crd-conversion-webhook", w.Definition("cars.x.example").Check), c.want)
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
			w := checktest.Read(t, operator.Find, crd+fmt.Sprintf(versionsInstance, c.object, c.generation, c.image))
			checktest.ExpectResult(t, checktest.Only(t, Rules(), "crd-version-acted-on", w.Definition("cars.x.example").Check), c.want)
		})
	}
}

// TestVersionPath finds the fields in which published kinds state a version.
func TestVersionPath(t *testing.T) {
	for name, want := range map[string]bool{
		"version": true, "image": true, "imageName": true, "kafkaVersion": true, "serverImage": true, "tag": true,
		"apiVersion": false, "imagePullPolicy": false, "imagePullSecrets": false, "minVersion": false, "replicas": false, "storage": false,
	} {
		if got := statesVersion(name); got != want {
			t.Errorf("%s states a version: %v", name, got)
		}
	}
	deep := &apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"kafka": {Properties: map[string]apiextensionsv1.JSONSchemaProps{"version": {Type: "string"}}},
		"tls":   {Properties: map[string]apiextensionsv1.JSONSchemaProps{"minVersion": {Type: "string"}}},
	}}
	if got := versionPath("spec", deep, 4); got != "spec.kafka.version" {
		t.Errorf("found %q", got)
	}
}
