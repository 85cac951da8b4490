package workload

import (
	"fmt"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/graph"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

func containerRules() []check.Rule {
	return []check.Rule{
		{
			ID: "pod-secret-env", Category: check.Security, Severity: check.Warning, Guidelines: []check.Guideline{check.MaturityGuideline(5)},
			Title: "Passwords and tokens come from Secrets",
			Why:   "A literal in a pod's environment is read by everyone who may read pods and workloads, and is stored in every manifest, chart release and backup.",
			Fix:   "Put it into a Secret, and reference it: env[].valueFrom.secretKeyRef. Then change it, since it was exposed.",
			Stack: func(s *check.Stack, r *check.Result) { eachPlan(s, r, secretsInEnv) },
		},
		{
			ID: "pod-image-tag", Category: check.Security, Severity: check.Info, Guidelines: []check.Guideline{check.CoreOSGuideline(6)},
			Title: "Images have a fixed tag or a digest",
			Why:   "The meaning of latest changes without a change of the workload: after a restart another version runs, and it is unknown which ran before.",
			Fix:   "Name the version by a tag of its own, or by its digest.",
			Stack: func(s *check.Stack, r *check.Result) { eachPlan(s, r, imageTags) },
		},
	}
}

// eachPlan checks what users wrote: the templates, and bare pods. They cannot correct the
// additions of admission.
func eachPlan(s *check.Stack, r *check.Result, ask func(*check.ClusterState, *check.Workload, check.PodView, *check.Result) (wrong, open bool)) {
	for _, wl := range s.Workloads() {
		v, ok := check.PodPlan(wl)
		if !ok {
			continue
		}
		if wrong, open := ask(s.World, wl, v, r); !wrong && !open {
			r.Pass(wl.Ref)
		}
	}
}

func imageTags(w *check.ClusterState, wl *check.Workload, v check.PodView, r *check.Result) (wrong, open bool) {
	check.EachContainer(v.Spec, func(path string, c *corev1.Container) {
		if c.Image == "" || check.ParseImage(c.Image).IsFixed() {
			return
		}
		wrong = true
		message := fmt.Sprintf("the image of %s has the tag latest: which version runs depends on when it was pulled", c.Name)
		if !strings.HasSuffix(c.Image, ":latest") {
			message = fmt.Sprintf("the image of %s has no tag, which means latest: which version runs depends on when it was pulled", c.Name)
		}
		r.AddFinding(check.Finding{
			Object: wl.Ref, Field: fmt.Sprintf("%s.%s.image", wl.SpecPath(), path), Value: c.Image, Message: message,
			Remedy: w.RemedyFor(wl, "Name the version by a tag of its own, or by its digest."),
		})
	})
	return wrong, false
}

func secretsInEnv(w *check.ClusterState, wl *check.Workload, v check.PodView, r *check.Result) (wrong, open bool) {
	check.EachContainer(v.Spec, func(path string, c *corev1.Container) {
		for i := range c.Env {
			e := &c.Env[i]
			problem, unknown := secretEnv(w, e, wl.Ref.Namespace)
			switch {
			case unknown != "":
				open = true
				r.AddUnknown(wl.Ref, fmt.Sprintf("%s of %s: %s", e.Name, c.Name, unknown))
			case problem != "":
				wrong = true
				r.AddFinding(check.Finding{
					// The value is never shown.
					Object: wl.Ref, Field: fmt.Sprintf("%s.%s.env[%s].value", wl.SpecPath(), path, e.Name), Value: "(not shown)",
					Message: fmt.Sprintf("%s of %s %s", e.Name, c.Name, problem),
					Remedy:  w.RemedyFor(wl, "Put it into a Secret, reference it by valueFrom.secretKeyRef, and change it."),
				})
			}
		}
	})
	return wrong, open
}

// secretEnv returns the problem of an environment variable, or the reason why that is unknown;
// both are empty where it is right.
func secretEnv(w *check.ClusterState, e *corev1.EnvVar, namespace string) (wrong, unknown string) {
	if e.ValueFrom != nil {
		return "", ""
	}
	if u, err := url.Parse(e.Value); err == nil && u.User != nil {
		if pass, ok := u.User.Password(); ok && pass != "" && !strings.Contains(e.Value, "$(") {
			return "is a URL with a password in plain text", ""
		}
	}
	if !envSecretName(e.Name) {
		return "", ""
	}
	switch {
	case e.Value == "":
		return "", "it has no value, or the snapshot omits the value"
	case !envSecretValue(e.Value):
		return "", ""
	case envMayName(e.Name):
		switch named, known := envNames(w, e.Value, namespace); {
		case named:
			return "", ""
		case !known:
			return "", "its value may be the name of a Secret, and Secrets could not be read"
		}
	}
	return "has its value in the manifest, in plain text", ""
}

var underscores = strings.NewReplacer("-", "_", ".", "_")

// envSecretName reports whether a variable has the name of a secret. A suffix may make it
// something else: DB_PASSWORD_FILE is a path, AWS_ACCESS_KEY_ID a name.
func envSecretName(name string) bool {
	name = strings.ToUpper(underscores.Replace(name))
	for _, end := range []string{
		"PASSWORD", "PASSWD", "PASSPHRASE", "TOKEN", "SECRET", "APIKEY", "API_KEY", "SECRET_KEY", "SECRETKEY", "SECRET_ACCESS_KEY",
		"PRIVATE_KEY", "ENCRYPTION_KEY", "SIGNING_KEY", "CLIENT_SECRET", "CREDENTIAL", "CREDENTIALS",
	} {
		before, ok := strings.CutSuffix(name, end)
		if !ok {
			continue
		}
		// The value may name a Secret with a certificate, or one to pull images with.
		if end == "SECRET" && envObject(before) {
			return false
		}
		// ALLOW_EMPTY_PASSWORD and USE_TOKEN are switches.
		for _, no := range []string{"EMPTY_", "USE_", "ENABLE_", "DISABLE_", "REQUIRE_", "SKIP_", "FORCE_", "RANDOM_", "PUBLIC_", "MAX_", "MIN_", "NUM_"} {
			if strings.Contains("_"+before, "_"+no) {
				return false
			}
		}
		return true
	}
	return false
}

func envObject(before string) bool {
	for _, marker := range []string{"TLS_", "CERT_", "CERTS_", "CERTIFICATE_", "CA_", "PULL_"} {
		if strings.HasSuffix("_"+before, "_"+marker) {
			return true
		}
	}
	return false
}

// envMayName reports whether a variable may as well hold the name of a Secret: TLS_SECRET.
func envMayName(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasSuffix(name, "SECRET") || strings.HasSuffix(name, "CREDENTIAL") || strings.HasSuffix(name, "CREDENTIALS")
}

// envNames reports whether a value is the name of a Secret, as name or namespace/name. A
// missing one may be optional: then the rest of the name decides.
func envNames(w *check.ClusterState, value, namespace string) (named, known bool) {
	name := value
	if in, rest, ok := strings.Cut(value, "/"); ok {
		namespace, name = in, rest
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 || len(validation.IsDNS1123Label(namespace)) > 0 {
		return false, true
	}
	ref := object.Ref{Kind: "Secret", Namespace: namespace, Name: name}
	if id, ok := w.Graph.Find(ref); ok && w.Graph.State(id) == graph.Present {
		return true, true
	}
	return false, w.Read(ref.GroupKind(), namespace)
}

// envSecretValue reports whether a value may be a secret, and is no switch, no number of
// seconds and no place of a secret.
func envSecretValue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "false", "yes", "no", "on", "off", "none", "null", "enabled", "disabled", "optional", "required", "default", "auto", "0", "1":
		return false
	}
	// A path, a reference to another variable, or the address of a store of secrets.
	return !strings.HasPrefix(value, "/") && !strings.Contains(value, "$(") && !strings.Contains(value, "://") && !strings.HasPrefix(value, "vault:")
}
