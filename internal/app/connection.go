package app

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Configure sets the flags of kubectl, by which an Input connects. Requests are counted by its
// Clock, and one without an answer is reported.
func (c *Input) Configure() {
	silence := newSilence(func(text string) { c.Report.Warn(text) })
	c.Config = genericclioptions.NewConfigFlags(true).WithDiscoveryQPS(-1).WithDiscoveryBurst(-1)
	c.Config.WrapConfigFn = func(r *rest.Config) *rest.Config {
		r.UserAgent = "kubectl-sysop/" + c.Version
		if c.Completing && r.ExecProvider != nil {
			r.ExecProvider.StdinUnavailable = true
			r.ExecProvider.StdinUnavailableMessage = "the shell completes"
		}
		r.Wrap(func(rt http.RoundTripper) http.RoundTripper {
			if c.Completing { // A completion writes nothing beside its words.
				return c.Clock.Count(rt)
			}
			return silence.watch(c.Clock.Count(rt))
		})
		return r
	}
}

// ConnectAs has an Input connect as another one does. What they do to their flags later on is their
// own: flags that were used once are not read again.
func (c *Input) ConnectAs(other *Input) {
	to, from := c.Config, other.Config
	to.CacheDir, to.KubeConfig = from.CacheDir, from.KubeConfig
	to.ClusterName, to.AuthInfoName, to.Context, to.Namespace = from.ClusterName, from.AuthInfoName, from.Context, from.Namespace
	to.APIServer, to.TLSServerName, to.Insecure = from.APIServer, from.TLSServerName, from.Insecure
	to.CertFile, to.KeyFile, to.CAFile, to.BearerToken = from.CertFile, from.KeyFile, from.CAFile, from.BearerToken
	to.Impersonate, to.ImpersonateUID, to.ImpersonateGroup, to.ImpersonateUserExtra = from.Impersonate, from.ImpersonateUID, from.ImpersonateGroup, from.ImpersonateUserExtra
	to.Username, to.Password, to.Timeout, to.DisableCompression, to.ProxyURL = from.Username, from.Password, from.Timeout, from.DisableCompression, from.ProxyURL
}

// Another returns an Input that reads the same for a question of its own, in another namespace if
// one is named. It reports nothing.
func (c *Input) Another(namespace string) *Input {
	fresh := &Input{
		From: c.From, RulesFiles: slices.Clone(c.RulesFiles), AllNamespaces: c.AllNamespaces, NoInferred: c.NoInferred,
		Version: c.Version, Stdin: strings.NewReader(""), Demo: c.Demo, Now: c.Now, Clock: NewStopwatch(c.Now), Report: unreported{},
	}
	fresh.Configure()
	fresh.ConnectAs(c)
	if namespace != "" {
		fresh.Config.Namespace, fresh.AllNamespaces = &namespace, false
	}
	return fresh
}

// unreported discards messages.
type unreported struct{}

func (unreported) Gaps([]object.Gap) {}
func (unreported) Warn(string)       {}
func (unreported) Note(string)       {}
func (unreported) Progress(string)   {}
func (unreported) Timings(string)    {}
