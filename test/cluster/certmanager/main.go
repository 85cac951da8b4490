// Command certmanager runs cert-manager's own controllers, as published in its
// Go module, against a kubeconfig. cert-manager's cmd/controller is a module
// that is not published, so this main stands in for it. Only what a cluster
// without a network can use is linked in: the CA and self-signed issuers, the
// certificate controllers, the approver and the shim that turns an annotated
// Ingress into a Certificate. No ACME, no Vault, no webhook.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cert-manager/cert-manager/pkg/controller"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificate-shim/ingresses"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
)

// workers is the number of workers of each controller, as cert-manager has it.
const workers = 5

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig `file` of the cluster to control")
	namespace := flag.String("cluster-resource-namespace", "cert-manager", "`namespace` in which ClusterIssuers look for their Secrets")
	ownerRef := flag.Bool("enable-certificate-owner-ref", false, "make a Certificate the owner of its Secret")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, options(*kubeconfig, *namespace, *ownerRef)); err != nil {
		log.Fatal(err)
	}
}

// options are the defaults of cert-manager's own command line. The ACME
// quantities are parsed at start even though no ACME controller runs.
func options(kubeconfig, namespace string, ownerRef bool) controller.ContextOptions {
	q := resource.MustParse
	return controller.ContextOptions{
		Kubeconfig:         kubeconfig,
		KubernetesAPIQPS:   100,
		KubernetesAPIBurst: 200,
		IssuerOptions:      controller.IssuerOptions{ClusterResourceNamespace: namespace},
		ACMEOptions: controller.ACMEOptions{
			HTTP01SolverResourceRequestCPU: q("10m"), HTTP01SolverResourceRequestMemory: q("64Mi"),
			HTTP01SolverResourceLimitsCPU: q("100m"), HTTP01SolverResourceLimitsMemory: q("64Mi"),
		},
		IngressShimOptions: controller.IngressShimOptions{
			DefaultIssuerKind: "Issuer", DefaultIssuerGroup: "cert-manager.io",
			DefaultAutoCertificateAnnotations: []string{"kubernetes.io/tls-acme"},
		},
		CertificateOptions: controller.CertificateOptions{
			EnableOwnerRef:                           ownerRef,
			CopiedAnnotationPrefixes:                 []string{"*", "-kubectl.kubernetes.io/", "-fluxcd.io/", "-argocd.argoproj.io/"},
			CertificateRequestMinimumBackoffDuration: time.Hour,
			CertificateRequestMaximumBackoffDuration: 32 * time.Hour,
		},
		SchedulerOptions: controller.SchedulerOptions{MaxConcurrentChallenges: 60},
	}
}

// run starts every controller that is linked in and returns when one fails or
// ctx ends.
func run(ctx context.Context, o controller.ContextOptions) error {
	factory, err := controller.NewContextFactory(ctx, o)
	if err != nil {
		return fmt.Errorf("set up the controllers: %w", err)
	}
	base, err := factory.Build()
	if err != nil {
		return fmt.Errorf("set up the controllers: %w", err)
	}
	running, ctx := errgroup.WithContext(ctx)
	for name, construct := range controller.Known() {
		c, err := construct(factory)
		if err != nil {
			return fmt.Errorf("set up controller %s: %w", name, err)
		}
		running.Go(func() error {
			if err := c.Run(workers, ctx); err != nil {
				return fmt.Errorf("run controller %s: %w", name, err)
			}
			return nil
		})
	}
	base.SharedInformerFactory.Start(ctx.Done())
	base.KubeSharedInformerFactory.Start(ctx.Done())
	base.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
	return running.Wait()
}
