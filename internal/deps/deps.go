// Package deps holds what is about to be used.
package deps

import (
	_ "github.com/Masterminds/semver/v3"
	_ "github.com/ProtonMail/go-crypto/openpgp"
	_ "github.com/google/go-containerregistry/pkg/registry"
	_ "github.com/opencontainers/image-spec/specs-go/v1"
	_ "helm.sh/helm/v4/pkg/action"
	_ "helm.sh/helm/v4/pkg/provenance"
	_ "helm.sh/helm/v4/pkg/registry"
	_ "helm.sh/helm/v4/pkg/repo/v1"
	_ "oras.land/oras-go/v2"
	_ "oras.land/oras-go/v2/content/memory"
	_ "oras.land/oras-go/v2/registry/remote"
	_ "oras.land/oras-go/v2/registry/remote/credentials"
)
