package operator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/internal/checktest"
)

// TestWebhooks holds what is said of an operator's webhooks.
func TestWebhooks(t *testing.T) {
	const pods = "  rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]\n"
	widgets := checktest.Definition("widgets.acme.example.org", "Widget", "") + checktest.Grant("runner", "ops/runner", "acme.example.org", "widgets, widgets/status", checktest.AllVerbs)
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
			config := fmt.Sprintf(checktest.WebhookConfig, c.webhook)
			switch name {
			case "no bundle":
				config = strings.NewReplacer(", caBundle: Y2E=", "", "name: hooks", "name: hooks, uid: a1").Replace(config)
			case "a manifest":
				config = strings.Replace(config, ", caBundle: Y2E=", "", 1)
			}
			w := operatorsWorld(t, widgets+fmt.Sprintf(checktest.WebhookPods, c.ready, c.port)+config, c.unread)
			checktest.ExpectResult(t, checktest.Only(t, Rules(), c.id, w.Operators()[0].Check), c.want)
		})
	}
}
