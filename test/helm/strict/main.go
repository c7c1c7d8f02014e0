// Decodes manifests on stdin strictly against the types of Kubernetes and of the Prometheus operator: an unknown or
// doubled field, or a value of the wrong type, is an error.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
)

func main() {
	scheme := runtime.NewScheme()
	utilruntime.Must(kubernetes.AddToScheme(scheme))
	utilruntime.Must(monitoring.AddToScheme(scheme))
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()

	text, err := io.ReadAll(os.Stdin)
	utilruntime.Must(err)
	failed := false
	for _, manifest := range strings.Split("\n"+string(text), "\n---") {
		if strings.TrimSpace(withoutComments(manifest)) == "" {
			continue
		}
		_, kind, err := decoder.Decode([]byte(manifest), nil, nil)
		if err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "%v: %v\n%s\n", kind, err, manifest)
			continue
		}
		fmt.Println(kind.Kind)
	}
	if failed {
		os.Exit(1)
	}
}

func withoutComments(text string) string {
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
