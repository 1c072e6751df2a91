import Dockerode from "dockerode";

const PROJECT = "dev.jacobian-runner.project";
/** Labels of objects that belong to a run: those without a run (agent runtimes, images) are meant to stay. */
const RUN = "dev.jacobian-runner.run";

/** Names every container, network, volume and temporary image of a run that is still in the engine. */
export async function leftovers(): Promise<string[]> {
  const docker = new Dockerode();
  const filters = JSON.stringify({ label: [PROJECT] });
  const ofRun = (labels: Readonly<Record<string, string>> | undefined): boolean => labels?.[RUN] !== undefined;
  const [containers, networks, volumes, images] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listNetworks({ filters }),
    docker.listVolumes({ filters }),
    docker.listImages({ filters }),
  ]);
  return [
    ...containers.filter(({ Labels }) => ofRun(Labels)).map(({ Names }) => `container ${Names.join(",")}`),
    ...networks.filter(({ Labels }) => ofRun(Labels)).map(({ Name }) => `network ${Name}`),
    ...volumes.Volumes.filter(({ Labels }) => ofRun(Labels)).map(({ Name }) => `volume ${Name}`),
    ...images.filter(({ Labels }) => ofRun(Labels)).map(({ Id }) => `image ${Id}`),
  ];
}
