// Copyright: (c) 2026, HyperFleet contributors
// GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// Command oracle asks the two real readers of a docker config which credentials
// they would use for an image: kubelet's credentialprovider and containers/image.
//
// It reads one question per line on stdin and writes one answer per line on stdout:
//
//	{"document": "<base64 of the file>", "image": "quay.io/team/app:1"}
//	{"kubelet": {"credentials": [{"username": "<base64>", "password": "<base64>"}]},
//	 "containers_image": {"username": ..., "password": ..., "identity_token": ...}}
//
// An answer's "error" is "image" (the reader rejects the image name), "parse" (it
// rejects the file), "base64" (it rejects the one entry) or "helper" (it ran a
// credential helper, which never exists here).
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sirupsen/logrus"
	"go.podman.io/image/v5/docker/reference"
	"go.podman.io/image/v5/pkg/docker/config"
	"go.podman.io/image/v5/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/credentialprovider"
	"k8s.io/kubernetes/pkg/util/parsers"
)

type question struct {
	Document []byte `json:"document"`
	Image    string `json:"image"`
}

// credential holds bytes: a decoded password need not be UTF-8.
type credential struct {
	Username      []byte `json:"username"`
	Password      []byte `json:"password"`
	IdentityToken []byte `json:"identity_token,omitempty"`
}

type kubeletAnswer struct {
	Error       string       `json:"error,omitempty"`
	Credentials []credential `json:"credentials"`
}

type imageAnswer struct {
	Error string `json:"error,omitempty"`
	Text  string `json:"text,omitempty"` // of an error this program cannot name
	credential
}

type answer struct {
	Kubelet         kubeletAnswer `json:"kubelet"`
	ContainersImage imageAnswer   `json:"containers_image"`
}

func askKubelet(q question) kubeletAnswer {
	repository, _, _, err := parsers.ParseImageName(q.Image)
	if err != nil {
		return kubeletAnswer{Error: "image"}
	}
	var file credentialprovider.DockerConfigJSON
	if err := json.Unmarshal(q.Document, &file); err != nil {
		return kubeletAnswer{Error: "parse"}
	}
	keyring := &credentialprovider.BasicDockerKeyring{}
	keyring.Add(nil, file.Auths)
	found, _ := keyring.Lookup(repository)
	result := kubeletAnswer{Credentials: []credential{}}
	for _, c := range found {
		result.Credentials = append(result.Credentials,
			credential{Username: []byte(c.Username), Password: []byte(c.Password)})
	}
	return result
}

func errorKind(err error) (kind, text string) {
	text = err.Error()
	switch {
	case strings.Contains(text, "unmarshaling JSON"):
		return "parse", ""
	case strings.Contains(text, "illegal base64"):
		return "base64", ""
	case strings.Contains(text, "docker-credential-"):
		return "helper", ""
	}
	return "other", text
}

func askContainersImage(q question, scratch string) imageAnswer {
	named, err := reference.ParseNormalizedNamed(q.Image)
	if err != nil {
		return imageAnswer{Error: "image"}
	}
	path := filepath.Join(scratch, "config.json")
	if err := os.WriteFile(path, q.Document, 0o600); err != nil {
		return imageAnswer{Error: "other", Text: err.Error()}
	}
	system := &types.SystemContext{
		AuthFilePath:                path,
		SystemRegistriesConfPath:    filepath.Join(scratch, "registries.conf"),
		SystemRegistriesConfDirPath: filepath.Join(scratch, "registries.conf.d"),
	}
	found, err := config.GetCredentialsForRef(system, named)
	if err != nil {
		kind, text := errorKind(err)
		return imageAnswer{Error: kind, Text: text}
	}
	return imageAnswer{credential: credential{
		Username:      []byte(found.Username),
		Password:      []byte(found.Password),
		IdentityToken: []byte(found.IdentityToken),
	}}
}

func run() error {
	logrus.SetOutput(io.Discard)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)

	scratch, err := os.MkdirTemp("", "oracle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	// The host's own registries.conf must not have a say, nor may any helper on PATH be run.
	if err := os.WriteFile(filepath.Join(scratch, "registries.conf"), nil, 0o600); err != nil {
		return err
	}
	if err := os.Setenv("PATH", scratch); err != nil {
		return err
	}

	lines := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	decoder := json.NewDecoder(lines)
	for {
		var q question
		if err := decoder.Decode(&q); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		a := answer{Kubelet: askKubelet(q), ContainersImage: askContainersImage(q, scratch)}
		if err := encoder.Encode(a); err != nil {
			return err
		}
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}
