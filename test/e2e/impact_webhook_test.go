package e2e

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-sysop/kubectl-sysop/test/cluster"
	"github.com/kubectl-sysop/kubectl-sysop/test/cluster/pki"
)

// askedBy runs a server that the API server asks by the Service hook of a namespace: the
// egress proxy of the cluster dials the port of the Service on loopback. No connection is kept:
// as long as one is open, the API server asks for no Service.
func askedBy(t *testing.T, c *cluster.Cluster, ns string, answer http.HandlerFunc) (caBundle string) {
	t.Helper()
	authority, err := pki.NewAuthority("hooks")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue(pki.Subject{Name: "hook", Hosts: []string{"hook." + ns + ".svc"}})
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(answer)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.Config.SetKeepAlivesEnabled(false)
	server.StartTLS()
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	applyText(t, c, strings.NewReplacer("NAMESPACE", ns, "PORT", at.Port()).Replace(`
apiVersion: v1
kind: Service
metadata: {name: hook, namespace: NAMESPACE}
spec: {selector: {app: hook}, ports: [{port: PORT}]}
---
apiVersion: v1
kind: Pod
metadata: {name: hook, namespace: NAMESPACE, labels: {app: hook}}
spec: {containers: [{name: hook, image: registry.example.com/hook}]}
`))
	atRest(t, c, ns)
	return base64.StdEncoding.EncodeToString(authority.Cert)
}

// reply writes an answer as JSON.
func reply(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // who asked has gone
}

// judge is a webhook that refuses what is labelled refuse, and accepts the rest.
func judge(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	var object metav1.PartialObjectMetadata
	if err := errors.Join(json.NewDecoder(r.Body).Decode(&review), json.Unmarshal(review.Request.Object.Raw, &object)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{
		UID: review.Request.UID, Allowed: object.Labels["ask"] != "refuse", Result: &metav1.Status{Message: "the webhook refuses it"},
	}
	review.Request = nil
	reply(w, review)
}

const hooks = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NAMESPACE-POLICY, labels: {test-of: NAMESPACE}}
webhooks:
- name: POLICY.example.com
  failurePolicy: POLICY
  sideEffects: None
  admissionReviewVersions: [v1]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}
  objectSelector: {matchExpressions: [{key: ask, operator: In, values: [VALUES]}]}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  clientConfig: {caBundle: BUNDLE, service: {namespace: NAMESPACE, name: hook, port: PORT}}
`

// Without its Service a webhook that must be asked refuses all that it is to see, and one that
// need not lets it pass; without its configuration nobody is asked.
func TestImpactOfWebhook(t *testing.T) {
	t.Parallel()
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	bundle := askedBy(t, c, ns, judge)
	service, err := admin(c).CoreV1().Services(ns).Get(t.Context(), "hook", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	configurations := admin(c).AdmissionregistrationV1().ValidatingWebhookConfigurations()
	t.Cleanup(func() { // the test's context has ended by now
		deleted(t, configurations.DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "test-of=" + ns}))
	})
	for policy, values := range map[string]string{"Fail": "fail, refuse", "Ignore": "ignore"} {
		text := strings.NewReplacer("NAMESPACE-POLICY", ns+"-"+strings.ToLower(policy), "NAMESPACE", ns, "POLICY.example", strings.ToLower(policy)+".example",
			"POLICY", policy, "VALUES", values, "BUNDLE", bundle, "PORT", fmt.Sprint(service.Spec.Ports[0].Port)).Replace(hooks)
		applyText(t, c, text)
	}
	asks := func(value, words string) {
		t.Helper()
		answered(t, c, ns, "{apiVersion: v1, kind: ConfigMap, metadata: {name: new, labels: {ask: "+value+"}}}", words)
	}
	asks("refuse", "the webhook refuses it")
	asks("fail", "")
	asks("ignore", "")
	r := newRealm(t, c, ns)
	const strict = "ValidatingWebhookConfiguration.admissionregistration.k8s.io/NAMESPACE-fail"
	r.deletes(r.asks("Service/NAMESPACE/hook", ofHook(
		"breaks "+strict, "does without ValidatingWebhookConfiguration.admissionregistration.k8s.io/NAMESPACE-ignore"), "-A"))
	asks("fail", `service "hook" not found`)
	asks("ignore", "")

	configuration := r.asks(strict, nil)
	if !strings.Contains(configuration.AppliesWhen, "no longer checked") {
		t.Errorf("a configuration acts %q", configuration.AppliesWhen)
	}
	r.deletes(configuration)
	asks("fail", "")
	asks("refuse", "")
}

// ofHook is what is said of the Service hook, whoever asks by it.
func ofHook(more ...string) []string {
	return append([]string{
		"deleted EndpointSlice.discovery.k8s.io/NAMESPACE/hook-* by owner", "deleted IPAddress.networking.k8s.io/10.96.* by controller", "loses it Pod/NAMESPACE/hook",
	}, more...)
}
