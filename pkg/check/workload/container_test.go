package workload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check/operator"
)

func TestImageTags(t *testing.T) {
	for image, fixed := range map[string]bool{
		"nginx":                                          false,
		"nginx:latest":                                   false,
		"nginx:1.27":                                     true,
		"registry.example.com:5000/nginx":                false,
		"registry.example.com:5000/nginx:1":              true,
		"registry.example.com/a/nginx:latest":            false,
		"nginx@sha256:" + strings.Repeat("0", 64):        true,
		"nginx:latest@sha256:" + strings.Repeat("0", 64): true,
		"nginx:latest-alpine":                            true,
	} {
		if check.ParseImage(image).IsFixed() != fixed {
			t.Errorf("%s: fixed %t", image, !fixed)
		}
	}
}

func TestSecretsInEnv(t *testing.T) {
	const world = `
apiVersion: v1
kind: Secret
metadata: {name: tls, namespace: shop}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: c, image: "x:1", env: [ENV]}]}
status: {phase: Running}
`
	for env, want := range map[string]string{
		`{name: DB_PASSWORD, value: hunter2}`:                                                      "wrong",
		`{name: PGPASSWORD, value: hunter2}`:                                                       "wrong",
		`{name: api-token, value: abcdef}`:                                                         "wrong",
		`{name: AWS_SECRET_ACCESS_KEY, value: abcdef}`:                                             "wrong",
		`{name: STRIPE_API_KEY, value: sk_live_hunter2}`:                                           "wrong",
		`{name: CLIENT_SECRET, value: "p@ssw0rd"}`:                                                 "wrong",
		`{name: CLIENT_SECRET, value: hunter2}`:                                                    "wrong",
		`{name: DATABASE_URL, value: "postgres://app:hunter2@db/shop"}`:                            "wrong",
		`{name: DATABASE_URL, value: "postgres://app@db/shop"}`:                                    "fine",
		`{name: DATABASE_URL, value: "postgres://app:$(PASSWORD)@db/shop"}`:                        "fine",
		`{name: DB_PASSWORD, valueFrom: {secretKeyRef: {name: db, key: p}}}`:                       "fine",
		`{name: DB_PASSWORD_FILE, value: /run/secrets/db}`:                                         "fine",
		`{name: DB_PASSWORD, value: /run/secrets/db}`:                                              "fine",
		`{name: DB_PASSWORD, value: "$(OTHER)"}`:                                                   "fine",
		`{name: ALLOW_EMPTY_PASSWORD, value: "yes"}`:                                               "fine",
		`{name: ENABLE_TOKEN, value: anything}`:                                                    "fine",
		`{name: AWS_ACCESS_KEY_ID, value: AKIA}`:                                                   "fine",
		`{name: TOKEN_TTL, value: "3600"}`:                                                         "fine",
		`{name: MYSQL_ALLOW_EMPTY_PASSWORD, value: please}`:                                        "fine",
		`{name: MAX_TOKEN, value: "4096"}`:                                                         "fine",
		`{name: IMAGE_PULL_SECRET, value: gone}`:                                                   "fine",
		`{name: WEBHOOK_SECRET, value: shop/tls}`:                                                  "fine",
		`{name: WEBHOOK_SECRET, value: tls}`:                                                       "fine",
		`{name: WEBHOOK_SECRET, value: hunter2}`:                                                   "wrong",
		`{name: CLOUD_CREDENTIALS, value: tls}`:                                                    "fine",
		`{name: SECRET_NAME, value: tls}`:                                                          "fine",
		`{name: TLS_SECRET, value: tls}`:                                                           "fine",
		`{name: VAULT_TOKEN, value: "vault:secret/data/app#token"}`:                                "fine",
		`{name: DB_PASSWORD}`:                                                                      "open",
		`{name: PATH, value: /bin}`:                                                                "fine",
		`{name: PWD, value: hunter2}`:                                                              "fine",
		`{name: KEY, value: hunter2}`:                                                              "fine",
		`{name: MONKEY, value: hunter2}`:                                                           "fine",
		`{name: A, value: b}, {name: B_PASSWORD, value: hunter2}, {name: C_TOKEN, value: hunter2}`: "wrong wrong",
	} {
		t.Run(env, func(t *testing.T) {
			w := checktest.Read(t, operator.Find, strings.Replace(world, "ENV", env, 1))
			r := checktest.Only(t, Rules(), "pod-secret-env", w.Stack("Pod/shop/web").Check)
			got := strings.TrimSpace(strings.Repeat("wrong ", len(r.Findings)) + strings.Repeat("open ", len(r.Unknowns)) + strings.Repeat("fine ", len(r.Passed)))
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if shown := fmt.Sprintf("%+v", r); strings.Contains(shown, "hunter2") {
				t.Errorf("the secret is shown: %s", shown)
			}
		})
	}
	// A name that may be that of a Secret is left open where Secrets were not read.
	w := checktest.Read(t, operator.Find, strings.Replace(world, "ENV", `{name: WEBHOOK_SECRET, value: tls}`, 1), "Secret")
	if r := checktest.Only(t, Rules(), "pod-secret-env", w.Stack("Pod/shop/web").Check); len(r.Unknowns) != 1 || len(r.Findings) != 0 {
		t.Errorf("unread: wrong %v, open %v", r.Findings, r.Unknowns)
	}
}
