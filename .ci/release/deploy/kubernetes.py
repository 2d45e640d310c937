"""Checks that manifests fit together, as `kubectl kustomize` writes them.

    kubernetes.py FILE
"""

import sys
from pathlib import Path

import yaml

# PostgreSQL's default of 100 without the three that it reserves
CONNECTIONS = 97
# the default of REFRACT_DATABASE_POOL
POOL = 16
# what the alerts ask for
JOB = "refract"


def main():
    objects = list(yaml.safe_load_all(Path(sys.argv[1]).read_text(encoding="utf-8")))
    manifests = Manifests(objects)
    wrong = [words for words, is_so in [*manifests.basics(), *manifests.scaling(), *manifests.monitoring()] if not is_so]
    if wrong:
        raise SystemExit("\n".join(wrong))


class Manifests:
    def __init__(self, objects):
        self.objects = objects
        self.deployment = self.only("Deployment")
        self.pod = self.deployment["spec"]["template"]
        self.container = self.pod["spec"]["containers"][0]
        self.scaler = self.only("HorizontalPodAutoscaler", {}).get("spec")

    def of(self, kind):
        return [it for it in self.objects if it["kind"] == kind]

    def only(self, kind, *default):
        [found] = self.of(kind) or default
        return found

    def basics(self):
        inside = [it for it in self.objects if it["kind"] != "Namespace"]
        namespaces = {it["metadata"].get("namespace") for it in inside}
        yield "an object is in another namespace", namespaces == {"refract"}
        settings = self.only("ConfigMap")["data"]
        nodes = self.scaler["maxReplicas"] if self.scaler else self.deployment["spec"]["replicas"]
        most = 2 * nodes * int(settings.get("REFRACT_DATABASE_POOL", POOL))
        yield f"{most} connections during an upgrade, {CONNECTIONS} are PostgreSQL's default", most <= CONNECTIONS
        ports = {it["name"] for it in self.container["ports"]}
        for service in self.of("Service"):
            name = service["metadata"]["name"]
            yield f"{name} selects no pod", chosen(service["spec"]["selector"], self.pod)
            yield f"{name} leads to no port", {it["targetPort"] for it in service["spec"]["ports"]} <= ports

    def scaling(self):
        if not self.scaler:
            return
        target = self.scaler["scaleTargetRef"]
        own = {"kind": "Deployment", "apiVersion": "apps/v1", "name": self.deployment["metadata"]["name"]}
        yield "the autoscaler scales another object", target == own
        yield "an apply would reset the autoscaler's number of pods", "replicas" not in self.deployment["spec"]
        yield "a share of the CPU needs a request", "cpu" in self.container["resources"]["requests"]
        budget = self.only("PodDisruptionBudget")["spec"]
        least = max(2, budget["maxUnavailable"] + 1)
        yield f"the autoscaler goes below {least} pods", self.scaler["minReplicas"] >= least
        drain = self.pod["spec"]["terminationGracePeriodSeconds"]
        pauses = [it["periodSeconds"] for it in self.scaler["behavior"]["scaleDown"]["policies"]]
        yield f"pods are removed faster than the {drain} s in which one drains", min(pauses) > drain

    def monitoring(self):
        for monitor in self.of("ServiceMonitor"):
            services = [it for it in self.of("Service") if chosen(monitor["spec"]["selector"]["matchLabels"], it)]
            yield "the ServiceMonitor selects not one service", len(services) == 1
            for service in services:
                job = service["metadata"]["labels"].get(monitor["spec"]["jobLabel"])
                yield f"the job is {job}, the alerts ask for {JOB}", job == JOB
                ports = {it["name"] for it in service["spec"]["ports"]}
                asked = {it["port"] for it in monitor["spec"]["endpoints"]}
                yield "the ServiceMonitor asks a port that the service lacks", asked <= ports


def chosen(selector, thing):
    return selector.items() <= thing["metadata"]["labels"].items()


if __name__ == "__main__":
    main()
