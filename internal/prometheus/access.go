// Package prometheus reaches the Prometheus of a user: by address, credentials, headers and
// certificates, from flags and from a file, with errors that say what to set.
package prometheus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/hint"
	"github.com/kubectl-sysop/kubectl-sysop/internal/userfile"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/declare"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Access is how to reach a Prometheus: by flags, and by a file of the kind PrometheusAccess. No
// part of it is in an error or a document but the names of files and headers.
type Access struct {
	// URL and Matchers stand in for the flags; the URL may have a user and a password.
	URL      string   `json:"url" read:"url"`
	Matchers string   `json:"matchers" read:""`
	Headers  []Header `json:"headers" read:",max=50" want:"a list of headers: {name: X-Scope-OrgID, value: shop}"`
	// A bearer token, or a user with a password, by value or by the file that has it.
	Token        string `json:"token" read:""`
	TokenFile    string `json:"tokenFile" read:""`
	Username     string `json:"username" read:""`
	Password     string `json:"password" read:""`
	PasswordFile string `json:"passwordFile" read:""`
	// CAFile has the certificates by which that of the server is signed, CertFile and KeyFile
	// are those of the client. All are PEM.
	CAFile   string `json:"caFile" read:""`
	CertFile string `json:"certFile" read:""`
	KeyFile  string `json:"keyFile" read:""`
	// ServerName is the name for which the certificate of the server was issued, where the URL
	// has another one. Insecure accepts any certificate.
	ServerName string `json:"serverName" read:""`
	Insecure   bool   `json:"insecure" read:""`
}

// Header is a header of every request. Its value is in the file, or in another one.
type Header struct {
	Name      string `json:"name" read:"header,required,unique"`
	Value     string `json:"value" read:"value"`
	ValueFile string `json:"valueFile" read:""`
}

// accessKind is the kind of the file, and maxAccessBytes is above the size of any.
const (
	accessKind     = "PrometheusAccess"
	maxAccessBytes = 1 << 20
)

// ReadAccess reads a file of the kind PrometheusAccess. Names of files in it are
// relative to its directory. One that holds a secret must not be readable by other users.
func ReadAccess(ctx context.Context, name string) (Access, error) {
	data, err := userfile.Read(ctx, name, maxAccessBytes, "file of access")
	if err != nil {
		return Access{}, fmt.Errorf("--prometheus-config: %w", err)
	}
	a, problems := parseAccess(data)
	if len(problems) > 0 {
		return a, hint.With(&hint.Lines{Lines: hint.Placed(name, problems)}, "docs/invoice.md has an example")
	}
	info, err := os.Stat(name)
	if err != nil {
		return a, fmt.Errorf("--prometheus-config: %w", err)
	}
	if readers := userfile.ExposedTo(info); a.hasSecrets() && readers != "" {
		return Access{}, hint.With(fmt.Errorf("--prometheus-config %s: holds a secret, and %s can read or change it (mode %04o)", name, readers, info.Mode().Perm()),
			"chmod 600 "+name+"; for a Secret that is mounted in a pod, defaultMode: 0400")
	}
	a.resolve(filepath.Dir(name))
	return a, nil
}

func parseAccess(data []byte) (Access, []strict.Problem) {
	var a Access
	root, problem := strict.Document(data)
	switch {
	case problem != nil:
		return a, []strict.Problem{*problem}
	case root == nil:
		return a, []strict.Problem{{Line: 1, Column: 1, Message: "the file is empty"}}
	}
	m := &strict.Mapping{}
	m.Struct(root, &a, strict.Formats{"url": wrongURL, "header": wrongHeader, "value": wrongValue}, m.Head(declare.APIVersion, accessKind)...)
	if wrong := a.contradiction(); wrong != "" && len(m.Problems) == 0 {
		m.Report(root, "%s", wrong)
	}
	return a, m.Problems
}

// contradiction says what of an access excludes each other; empty for nothing.
func (a *Access) contradiction() string {
	bearer, basic := a.Token != "" || a.TokenFile != "", a.Username != ""
	switch {
	case a.Token != "" && a.TokenFile != "":
		return "token and tokenFile exclude each other"
	case a.Password != "" && a.PasswordFile != "":
		return "password and passwordFile exclude each other"
	case bearer && basic:
		return "a token and a username exclude each other"
	case !basic && (a.Password != "" || a.PasswordFile != ""):
		return "username is missing beside the password"
	case (a.CertFile == "") != (a.KeyFile == ""):
		return "a client certificate needs both certFile and keyFile"
	case a.Insecure && a.CAFile != "":
		return "insecure and caFile exclude each other"
	}
	for _, h := range a.Headers {
		if (h.Value == "") == (h.ValueFile == "") {
			return "header " + h.Name + ": expected a value or a valueFile"
		}
	}
	return ""
}

// hasSecrets says that the file itself has a secret, and not only the name of a file with one.
func (a *Access) hasSecrets() bool {
	return a.Token != "" || a.Password != "" || strings.Contains(a.URL, "@") ||
		slices.ContainsFunc(a.Headers, func(h Header) bool { return h.Value != "" && IsSecretHeader(h.Name) })
}

// resolve makes names of files relative to a directory.
func (a *Access) resolve(dir string) {
	names := []*string{&a.TokenFile, &a.PasswordFile, &a.CAFile, &a.CertFile, &a.KeyFile}
	for i := range a.Headers {
		names = append(names, &a.Headers[i].ValueFile)
	}
	for _, name := range names {
		if *name != "" && !filepath.IsAbs(*name) {
			*name = filepath.Join(dir, *name)
		}
	}
}

// Override returns the access with what another one has in its place.
func (a Access) Override(b Access) Access {
	if b.TokenFile != "" {
		a.Token, a.TokenFile, a.Username, a.Password, a.PasswordFile = "", b.TokenFile, "", "", ""
	}
	if b.CAFile != "" {
		a.CAFile, a.Insecure = b.CAFile, false
	}
	if b.CertFile != "" {
		a.CertFile, a.KeyFile = b.CertFile, b.KeyFile
	}
	if b.Insecure {
		a.Insecure, a.CAFile = true, ""
	}
	for _, h := range b.Headers {
		a.Headers = slices.DeleteFunc(slices.Clone(a.Headers), func(own Header) bool { return strings.EqualFold(own.Name, h.Name) })
	}
	a.Headers = slices.Concat(a.Headers, b.Headers)
	return a
}

// IsPlain says that nothing is said of how to reach a server.
func (a *Access) IsPlain() bool {
	return len(a.Headers) == 0 && a.Token == "" && a.TokenFile == "" && a.Username == "" && a.CAFile == "" && a.CertFile == "" && a.ServerName == "" && !a.Insecure
}

var (
	headerName  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	secretWords = regexp.MustCompile(`(?i)auth|cookie|token|secret|password|key`)
)

// IsSecretHeader says that the value of a header is likely to be a secret, by its name.
func IsSecretHeader(name string) bool { return secretWords.MatchString(name) }

func wrongURL(text string) string {
	if u, err := url.Parse(text); !strings.HasPrefix(text, "svc:") && (err != nil || u.Host == "" || !field.IsWebURL(text)) {
		return "expected an http or https URL, or svc:NAMESPACE/NAME:PORT"
	}
	return ""
}

func wrongHeader(name string) string {
	if !headerName.MatchString(name) {
		return "expected the name of a header, such as X-Scope-OrgID"
	}
	return ""
}

func wrongValue(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return "expected a value on one line"
	}
	return ""
}

// ParseHeader reads a header as it is sent: NAME: VALUE.
func ParseHeader(text string) (Header, error) {
	name, value, ok := strings.Cut(text, ":")
	h := Header{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)}
	switch {
	case !ok || wrongHeader(h.Name) != "" || h.Value == "" || wrongValue(h.Value) != "":
		// The text is not repeated: it may be a secret.
		return h, hint.With(fmt.Errorf("--prometheus-header: expected NAME: VALUE"), "as in --prometheus-header 'X-Scope-OrgID: shop'")
	case IsSecretHeader(h.Name):
		return h, hint.With(fmt.Errorf("--prometheus-header: the value of %s is a secret, and every user of this machine can read the command line", h.Name),
			"write the header into a file for --prometheus-config")
	}
	return h, nil
}

// Client returns what sends requests to a Prometheus: over what leads to the API server, or over
// connections of its own where that is nil.
func (a Access) Client(via http.RoundTripper) (*http.Client, error) {
	header, err := a.header()
	if err != nil {
		return nil, err
	}
	if via == nil {
		own := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second}
		own.MaxIdleConnsPerHost = 4 // as many as are asked at a time
		if own.TLSClientConfig, err = a.tls(); err != nil {
			return nil, err
		}
		via = own
	}
	return &http.Client{
		Transport: &headerAdder{header, via},
		// The token is only for the named server, not for one that it redirects to.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

var serviceForm = regexp.MustCompile(`^svc:(?:(https?):)?([a-z0-9-]+)/([a-z0-9-]+)(?::([a-z0-9-]+))?(/.*)?$`)

// ServicePath is the path of the proxy of a Service, svc:[SCHEME:]NAMESPACE/NAME[:PORT][/PREFIX], of
// the API server. It refuses what does not get through: the proxy has credentials of its own and
// accepts any certificate.
func (a *Access) ServicePath(address string) (string, error) {
	const usesItself = "does not pass the proxy of the API server, which uses that header itself"
	m := serviceForm.FindStringSubmatch(address)
	problem, scheme := "", "http"
	header := slices.IndexFunc(a.Headers, func(h Header) bool { return ofAPIServer.MatchString(h.Name) })
	switch {
	case m == nil:
		return "", hint.With(fmt.Errorf("--prometheus %s: expected svc:NAMESPACE/NAME[:PORT]", address), "as in svc:monitoring/prometheus-k8s:9090 or svc:https:NAMESPACE/NAME:PORT")
	case a.Token != "" || a.TokenFile != "":
		problem = "a bearer token (Authorization) " + usesItself
	case a.Username != "":
		problem = "a user (Authorization) " + usesItself
	case header >= 0:
		problem = "the header " + a.Headers[header].Name + " " + usesItself
	case a.CertFile != "":
		problem, scheme = "a client certificate does not pass the proxy of the API server", "https"
	case a.CAFile != "" || a.ServerName != "":
		problem, scheme = "the proxy of the API server accepts any certificate, and checks no CA and no server name", "https"
	}
	if problem != "" {
		return "", hint.With(fmt.Errorf("--prometheus %s: %s", address, problem), forwardPort+scheme+"://localhost:9090")
	}
	service := m[3]
	if m[1] != "" || m[4] != "" {
		service += ":" + m[4]
	}
	if m[1] != "" {
		service = m[1] + ":" + service
	}
	return "/api/v1/namespaces/" + m[2] + "/services/" + service + "/proxy" + m[5], nil
}

const forwardPort = "forward a port (kubectl port-forward -n NAMESPACE service/NAME 9090:PORT), and write --prometheus "

// ofAPIServer are the headers that the API server takes for its own, and does not pass on.
var ofAPIServer = regexp.MustCompile(`(?i)^(authorization|host|impersonate-.*|x-remote-.*)$`)

// header is what every request has besides.
func (a *Access) header() (http.Header, error) {
	header := http.Header{}
	for _, h := range a.Headers {
		value := h.Value
		if h.ValueFile != "" {
			var err error
			if value, err = secretIn(h.ValueFile, "the value of the header "+h.Name); err != nil {
				return nil, err
			}
		}
		header.Set(h.Name, value)
	}
	token, err := secretOr(a.Token, a.TokenFile, "the bearer token")
	switch {
	case err != nil:
		return nil, err
	case strings.ContainsAny(token, " \t"):
		return nil, hint.With(fmt.Errorf("read the bearer token: %s holds no token", a.TokenFile), "write the token alone into it, as kubectl create token does")
	case token != "":
		header.Set("Authorization", "Bearer "+token)
	}
	password, err := secretOr(a.Password, a.PasswordFile, "the password")
	if err != nil {
		return nil, err
	}
	if a.Username != "" {
		r := http.Request{Header: header}
		r.SetBasicAuth(a.Username, password)
	}
	return header, nil
}

func secretOr(value, file, subject string) (string, error) {
	if file == "" {
		return value, nil
	}
	return secretIn(file, subject)
}

// secretIn reads the one line of a file.
func secretIn(file, subject string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", subject, err)
	}
	value := strings.TrimSpace(string(text))
	if value == "" || wrongValue(value) != "" {
		return "", fmt.Errorf("read %s: %s holds no value: expected one line", subject, file)
	}
	return value, nil
}

// tls is by which certificates the server and the client know each other.
func (a *Access) tls() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: a.ServerName, InsecureSkipVerify: a.Insecure} //nolint:gosec // asked for by name
	if a.CAFile != "" {
		text, err := os.ReadFile(a.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read the certificates of the authority: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("read the certificates of the authority: %s holds no PEM certificate", a.CAFile)
		}
	}
	if a.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(a.CertFile, a.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("read the client certificate %s and its key %s: %w", a.CertFile, a.KeyFile, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// headerAdder adds headers to requests.
type headerAdder struct {
	header http.Header
	next   http.RoundTripper
}

func (a *headerAdder) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, values := range a.header {
		if name == "Host" {
			r.Host = values[0]
			continue
		}
		r.Header[name] = values
	}
	return a.next.RoundTrip(r)
}
