package command

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/prometheus"
)

// PrometheusOptions are the flags of a Prometheus and of how to reach it.
type PrometheusOptions struct {
	Address, matchers, config string
	headers                   []string
	access                    prometheus.Access
}

// AddPrometheusFlags adds --prometheus, and the flags of how to reach it.
func (o *PrometheusOptions) AddPrometheusFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.Address, "prometheus", "", "the address of Prometheus (or a server with its API): a URL, or svc:NAMESPACE/NAME[:PORT] through the API server (TLS: svc:https:NAMESPACE/NAME:PORT)")
	f.StringVar(&o.matchers, "prometheus-matchers", "", `PromQL label matchers for every query, if a server has the series of several clusters (cluster="eu-1")`)
	f.StringVar(&o.config, "prometheus-config", "", "a FILE with the URL of Prometheus and how to reach it: tokens, users, headers and certificates (docs/invoice.md)")
	f.StringVar(&o.access.TokenFile, "prometheus-token-file", "", "a FILE with the bearer token for a --prometheus URL")
	f.StringArrayVar(&o.headers, "prometheus-header", nil, "a header for every request to --prometheus, such as 'X-Scope-OrgID: shop'; secrets belong into --prometheus-config")
	f.StringVar(&o.access.CAFile, "prometheus-ca-file", "", "a FILE with the certificates that the one of a --prometheus URL is signed with")
	f.StringVar(&o.access.CertFile, "prometheus-cert-file", "", "a FILE with the client certificate for a --prometheus URL")
	f.StringVar(&o.access.KeyFile, "prometheus-key-file", "", "a FILE with the key of the client certificate")
	f.BoolVar(&o.access.Insecure, "prometheus-insecure", false, "accept any certificate of a --prometheus URL")
}

// Server is what the flags and the file of access say; without an address there is none.
func (o *PrometheusOptions) Server(ctx context.Context) (app.HistorySource, error) {
	own := o.access
	own.Headers = nil // of this run
	for _, text := range o.headers {
		h, err := prometheus.ParseHeader(text)
		if err != nil {
			return app.HistorySource{}, err
		}
		own.Headers = append(own.Headers, h)
	}
	switch {
	case own.Insecure && own.CAFile != "":
		return app.HistorySource{}, fmt.Errorf("--prometheus-insecure and --prometheus-ca-file exclude each other")
	case (own.CertFile == "") != (own.KeyFile == ""):
		return app.HistorySource{}, fmt.Errorf("a client certificate needs both --prometheus-cert-file and --prometheus-key-file")
	}
	s := app.HistorySource{Address: o.Address, Matchers: o.matchers}
	if o.config != "" {
		file, err := prometheus.ReadAccess(ctx, o.config)
		if err != nil {
			return s, err
		}
		if s.Address == "" {
			s.Address = file.URL
		}
		if s.Matchers == "" {
			s.Matchers = file.Matchers
		}
		s.Access = file
	}
	s.Access = s.Access.Override(own)
	return s, o.check(&s)
}

// check refuses what a server that is reached in this way does not get.
func (o *PrometheusOptions) check(s *app.HistorySource) error {
	switch {
	case s.Address == "" && o.config != "":
		return hint.With(fmt.Errorf("--prometheus-config %s: names no server", o.config), "write its url into the file, or add --prometheus URL")
	case s.Address == "" && s.Matchers != "":
		return hint.With(fmt.Errorf("--prometheus-matchers is for queries: there is no --prometheus"), "add --prometheus URL")
	case s.Address == "" && !s.Access.IsPlain():
		return hint.With(fmt.Errorf("--prometheus-header, -token-file, -ca-file, -cert-file and -insecure say how to reach a Prometheus: there is no --prometheus"), "add --prometheus URL")
	case strings.HasPrefix(s.Address, "svc:"):
		_, err := s.Access.ServicePath(s.Address)
		return err
	}
	if hasUser(o.Address) {
		return hint.With(fmt.Errorf("--prometheus: the address has a user, and every user of this machine can read the command line"), "write url, username and password into a file for --prometheus-config")
	}
	return nil
}

// hasUser says whether an address has a user, also where a password makes it malformed.
func hasUser(address string) bool {
	u, err := url.Parse(address)
	return strings.Contains(address, "@") && (err != nil || u.User != nil || !strings.Contains(u.Path, "@"))
}
