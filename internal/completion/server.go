package completion

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// server sends requests without retries: a completion must not block the prompt.
type server struct {
	base   *url.URL
	client *http.Client
}

const (
	// page is how many objects are asked for at once. A resourceVersion of 0 would be answered
	// from memory, and without a limit: every object of a large cluster.
	page = "500"
	// maxPages bounds what is worth offering.
	maxPages = 5
	// maxPageBytes is more than the metadata of a page takes.
	maxPageBytes = 64 << 20
	// metadataAlone has nothing to fall back to: whole objects would be the values of Secrets.
	metadataAlone = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

func (s *server) list(ctx context.Context, r object.Resource, ns, selector string) []entry {
	var all []entry
	query := url.Values{"limit": {page}}
	if selector != "" {
		query.Set("labelSelector", selector)
	}
	for range maxPages {
		found, next, err := s.page(ctx, r, ns, query)
		if err != nil {
			break
		}
		all = append(all, found...)
		if next == "" {
			break
		}
		query.Set("continue", next)
	}
	return all
}

func (s *server) page(ctx context.Context, r object.Resource, ns string, query url.Values) (found []entry, next string, err error) {
	u := *s.base
	u.Path, u.RawQuery = path.Join("/", u.Path, listPath(r, ns)), query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Accept", metadataAlone)
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, "", errors.New(resp.Status)
	}
	var list struct {
		Metadata struct {
			Continue string `json:"continue"`
		} `json:"metadata"`
		Items []struct {
			Metadata entry `json:"metadata"`
		} `json:"items"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxPageBytes)).Decode(&list); err != nil {
		return nil, "", err
	}
	for i := range list.Items {
		found = append(found, list.Items[i].Metadata)
	}
	return found, list.Metadata.Continue, nil
}

func listPath(r object.Resource, ns string) string {
	p := path.Join("/apis", r.Group, r.Version)
	if r.Group == "" {
		p = path.Join("/api", r.Version)
	}
	if ns != "" {
		p = path.Join(p, "namespaces", ns)
	}
	return path.Join(p, r.Plural)
}
