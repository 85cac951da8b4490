package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// attempt is a request that would write, as a server got it.
type attempt struct {
	method, path, contentType string
	accept                    string
	query                     map[string][]string
	object                    map[string]any
}

// admitting answers what would write as a server does: with the object and a default, or
// by the message that say returns.
func admitting(t *testing.T, f *fake, say func(a attempt, n int) (code int, reason, message string)) *[]attempt {
	t.Helper()
	var mu sync.Mutex
	var all []attempt
	f.fault = func(w http.ResponseWriter, r *http.Request, n int) bool {
		if r.Method == http.MethodGet {
			return false
		}
		a := attempt{method: r.Method, path: r.URL.Path, contentType: r.Header.Get("Content-Type"), accept: r.Header.Get("Accept"), query: r.URL.Query()}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &a.object); err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		mu.Lock()
		all = append(all, a)
		mu.Unlock()
		if code, reason, message := say(a, n); code != 0 {
			sendStatus(w, code, metav1.StatusReason(reason), message, "")
			return true
		}
		a.object["defaulted"] = true
		w.Header().Set("Content-Type", jsonType)
		_ = json.NewEncoder(w).Encode(a.object)
		return true
	}
	return &all
}

var podsResource = object.Resource{Version: "v1", Kind: "Pod", Plural: "pods", Namespaced: true}

func podTrialOf(name string) DryRunRequest {
	return DryRunRequest{Resource: podsResource, Object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": "shop", "uid": "x", "managedFields": []any{}},
	}}}
}

// TestDryRunWritesNothing: whatever is asked, and however often, every request that would
// write says that it is not to.
func TestDryRunWritesNothing(t *testing.T) {
	f := newFake(t)
	asked := admitting(t, f, func(a attempt, n int) (int, string, string) {
		switch {
		case a.method == http.MethodPost && n == 1:
			return http.StatusServiceUnavailable, "ServiceUnavailable", "later"
		case a.method == http.MethodPost:
			return http.StatusConflict, "AlreadyExists", "it is there"
		}
		return 0, "", ""
	})
	c, _ := f.cluster(t, ClusterOptions{})
	existing := podTrialOf("there")
	existing.Exists, existing.Manager = true, "helm"
	tried, err := c.DryRun(t.Context(), []DryRunRequest{podTrialOf("web"), existing})
	if err != nil {
		t.Fatal(err)
	}
	for i := range tried {
		if tried[i].Admitted == nil || tried[i].Admitted.Object["defaulted"] != true {
			t.Errorf("trial %d: %+v", i, tried[i])
		}
	}
	methods := map[string]int{}
	for _, a := range *asked {
		methods[a.method+" "+a.path+" "+a.contentType]++
		manager := "kubectl-sysop"
		if strings.HasSuffix(a.path, "/there") {
			manager = "helm"
		}
		if !slices.Equal(a.query["dryRun"], []string{"All"}) || !slices.Equal(a.query["fieldManager"], []string{manager}) {
			t.Errorf("%s %s: %v", a.method, a.path, a.query)
		}
		meta, _ := a.object["metadata"].(map[string]any)
		if meta["uid"] != nil || meta["managedFields"] != nil {
			t.Errorf("%s %s: what only the server says was sent: %v", a.method, a.path, meta)
		}
	}
	want := map[string]int{
		"POST /api/v1/namespaces/shop/pods application/json":                    2,
		"PATCH /api/v1/namespaces/shop/pods/web application/apply-patch+yaml":   1,
		"PATCH /api/v1/namespaces/shop/pods/there application/apply-patch+yaml": 1,
	}
	if fmt.Sprint(methods) != fmt.Sprint(want) {
		t.Errorf("asked %v, want %v", methods, want)
	}
}

// TestDryRunAnswers: a refusal of the object is told from what says nothing of it. The
// messages are those of Kubernetes 1.36 and 1.37.
func TestDryRunAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		code              int
		reason, message   string
		refused           string // the reason
		undecided, unsaid string // parts of what is undecided, and what is not in it
	}{
		"invalid":         {422, "Invalid", `Pod "web" is invalid: spec.containers: Required value`, "Invalid", "", ""},
		"unknown field":   {400, "BadRequest", `strict decoding error: unknown field "spec.replica"`, "BadRequest", "", ""},
		"quota":           {403, "Forbidden", `pods "web" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`, "Forbidden", "", ""},
		"pod security":    {403, "Forbidden", `pods "web" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`, "Forbidden", "", ""},
		"a webhook's no":  {400, "", `admission webhook "a.example.org" denied the request: no`, "Bad Request", "", ""},
		"may not create":  {403, "Forbidden", `pods is forbidden: User "jane" cannot create resource "pods" in API group "" in the namespace "shop"`, "", "you do not", ""},
		"may not patch":   {403, "Forbidden", `pods "web" is forbidden: User "jane" cannot patch resource "pods" in API group "" in the namespace "shop": denied`, "", "you do not", ""},
		"may not grant":   {403, "Forbidden", `roles.rbac.authorization.k8s.io "r" is forbidden: user "jane" (groups=["a"]) is attempting to grant RBAC permissions not currently held: {APIGroups:[""]}`, "", "you do not have the permissions", ""},
		"no dry run":      {400, "BadRequest", `admission webhook "a.example.org" does not support dry run`, "", "a.example.org does not support dry runs", ""},
		"webhook is down": {500, "InternalError", `Internal error occurred: failed calling webhook "a.example.org": connection refused`, "", "a.example.org did not answer", ""},
		"ill-typed":       {500, "", `failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.replicas: expected numeric (int or float), got &value.valueUnstructured`, "Invalid", "", ""},
		"server is down":  {503, "ServiceUnavailable", `etcdserver: leader changed`, "", "the dry run failed", ""},
		"no apply":        {415, "UnsupportedMediaType", `the body of the request was in an unknown format`, "", "supports no dry run", ""},
		"name is a user":  {422, "Invalid", `ConfigMap "User \"jane\" cannot create resource" is invalid: metadata.name`, "Invalid", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			admitting(t, f, func(attempt, int) (int, string, string) { return test.code, test.reason, test.message })
			c, _ := f.cluster(t, ClusterOptions{})
			tried, err := c.DryRun(t.Context(), []DryRunRequest{podTrialOf("web")})
			if err != nil {
				t.Fatal(err)
			}
			got := tried[0]
			if got.Admitted != nil || got.Reason != test.refused || (got.Unknown != "") != (test.undecided != "") || !strings.Contains(got.Unknown, test.undecided) {
				t.Errorf("%+v", got)
			}
			if test.refused != "" && (!strings.Contains(got.Message, test.message) || got.Code != test.code) {
				t.Errorf("the server's words are %q (%d)", got.Message, got.Code)
			}
		})
	}
}

// TestDryRunOfDuplicates: what server-side apply refuses for its own sake is merged.
func TestDryRunOfDuplicates(t *testing.T) {
	f := newFake(t)
	asked := admitting(t, f, func(a attempt, _ int) (int, string, string) {
		if a.contentType == "application/apply-patch+yaml" {
			return http.StatusInternalServerError, "", `failed to create typed patch object: .spec.containers[0].env: duplicate entries for key [name="A"]`
		}
		return 0, "", ""
	})
	c, _ := f.cluster(t, ClusterOptions{})
	existing := podTrialOf("there")
	existing.Exists = true
	tried, err := c.DryRun(t.Context(), []DryRunRequest{existing})
	last := (*asked)[len(*asked)-1]
	if err != nil || tried[0].Admitted == nil || len(*asked) != 2 || last.contentType != "application/merge-patch+json" || !slices.Equal(last.query["dryRun"], []string{"All"}) {
		t.Errorf("%+v, %v; asked last %+v", tried, err, last)
	}
}

// TestDryRunOfSecrets: not even the answer to a dry run has what is in a Secret.
func TestDryRunOfSecrets(t *testing.T) {
	f := newFake(t)
	asked := admitting(t, f, func(attempt, int) (int, string, string) { return 0, "", "" })
	c, _ := f.cluster(t, ClusterOptions{})
	secret := DryRunRequest{Exists: true, Resource: object.Resource{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true}, Object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "key", "namespace": "shop"},
	}}}
	tried, err := c.DryRun(t.Context(), []DryRunRequest{secret})
	if err != nil || tried[0].Admitted == nil {
		t.Fatalf("%+v, %v", tried, err)
	}
	if tried[0].Admitted.Object["defaulted"] != nil {
		t.Error("the answer was looked at")
	}
	if got := (*asked)[0].accept; !strings.HasPrefix(got, "application/json;as=PartialObjectMetadata;") || strings.Contains(got, ",") {
		t.Errorf("asked for %s", got)
	}
}

// TestDryRunOfBadNames: what no path can hold is not sent.
func TestDryRunOfBadNames(t *testing.T) {
	f := newFake(t)
	asked := admitting(t, f, func(attempt, int) (int, string, string) { return 0, "", "" })
	c, _ := f.cluster(t, ClusterOptions{})
	away := podTrialOf("web")
	away.Object.SetNamespace("../../x")
	tried, err := c.DryRun(t.Context(), []DryRunRequest{podTrialOf("../secrets/x"), away})
	if err != nil || tried[0].Reason == "" || tried[1].Reason == "" || len(*asked) != 0 {
		t.Errorf("%+v, %v; %d requests", tried, err, len(*asked))
	}
}

// TestDryRunWithoutServer: no answer is an error, and no verdict.
func TestDryRunWithoutServer(t *testing.T) {
	f := newFake(t)
	c, _ := f.cluster(t, ClusterOptions{})
	f.Close()
	_, err := c.DryRun(t.Context(), []DryRunRequest{podTrialOf("web")})
	if _, gone := errors.AsType[*ConnectError](err); !gone {
		t.Errorf("error %v, want a ConnectError", err)
	}
}
