package prometheus

import (
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"syscall"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// WithRemedy adds to an error of a Prometheus what to set.
func WithRemedy(err error) error {
	if err == nil || hint.For(err) != "" {
		return err
	}
	if text := remedy(err); text != "" {
		return hint.With(err, text)
	}
	return err
}

func remedy(err error) string {
	if refused, ok := errors.AsType[*metrics.QueryError](err); ok {
		if text := remedyOfStatus(refused); text != remedyOfAccess || !strings.Contains(err.Error(), "query svc:") {
			return text
		}
		return "if it needs a token, a user or a certificate, " + forwardPort + "http://localhost:9090"
	}
	text := err.Error()
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, other := errors.AsType[x509.HostnameError](err)
	switch {
	case unknown:
		return "--prometheus-ca-file FILE has the certificates that the server's is signed with"
	case other:
		return "write the name for which the certificate was issued into --prometheus, or as serverName into a file for --prometheus-config"
	case strings.Contains(text, "remote error: tls:"):
		return "--prometheus-cert-file and --prometheus-key-file name a client certificate"
	case strings.Contains(text, "https://") && (errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)):
		// A server may close the connection before its refusal arrives.
		return "if the server demands a client certificate, --prometheus-cert-file and --prometheus-key-file name it"
	case strings.Contains(text, "HTTP response to HTTPS client"):
		return "write http:// in --prometheus"
	case strings.Contains(text, "web page"):
		return "write the address of the API into --prometheus, and what a proxy before it asks for: --prometheus-token-file or --prometheus-config"
	case strings.Contains(text, "cut off"):
		return "ask for a shorter --window or for one namespace, or --prometheus another server: a proxy before this one may limit responses"
	case strings.Contains(text, "a tenant or label matchers"):
		return "--prometheus-header 'X-Scope-OrgID: TENANT' names a tenant; kubectl sysop metrics doctor shows since when there are samples"
	}
	return ""
}

const remedyOfAccess = "--prometheus-token-file, or a file for --prometheus-config with a token, a user or a header"

func remedyOfStatus(e *metrics.QueryError) string {
	const smaller = "; recording rules (kubectl sysop metrics rules), a longer --step or a shorter --window need less"
	switch text := strings.ToLower(e.Message); {
	case strings.Contains(text, "org id"):
		return "--prometheus-header 'X-Scope-OrgID: TENANT' names the tenant"
	case strings.Contains(text, "http request to an https server"):
		return "write https:// in --prometheus"
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden, e.Status >= 300 && e.Status < 400:
		return remedyOfAccess
	case e.Status == http.StatusTooManyRequests:
		return "ask again later, or raise the limit of requests of the server" + smaller
	case e.Type == "timeout", e.Status == http.StatusGatewayTimeout:
		return "--request-timeout 10m gives a query more time, as far as the server does (--query.timeout)" + smaller
	case e.Status == http.StatusUnprocessableEntity, e.Status == http.StatusRequestEntityTooLarge:
		return "raise the limit of the server (--query.max-samples)" + smaller
	case e.Status == http.StatusBadGateway, e.Status == http.StatusServiceUnavailable:
		return "ask again when the server is ready: it may be starting, or have no memory left" + smaller
	}
	return ""
}
