import { expect, test } from "vitest";
import { parseLimits, ulimitsOf } from "../../../runner/docker/ulimits.ts";

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max core file size        0                    unlimited            bytes     
Max processes             96000                96000                processes 
Max open files            1024                 20000                files     
Max realtime timeout      unlimited            unlimited            us        
`;

test("hard limits of the host are read by ulimit name, and unlimited ones are no limit", () => {
  expect(Object.fromEntries(parseLimits(LIMITS))).toEqual({ nproc: 96000, nofile: 20000 });
});

test("no ulimit is asked for above the host's hard limit, and core files are off unless asked for", () => {
  const host = parseLimits(LIMITS);
  expect(ulimitsOf([{ name: "nofile", soft: 1_048_576, hard: 1_048_576 }], host)).toEqual([
    { Name: "nofile", Soft: 20000, Hard: 20000 },
    { Name: "core", Soft: 0, Hard: 0 },
  ]);
  expect(ulimitsOf([{ name: "nofile", soft: 100, hard: -1 }], host)[0]).toEqual({
    Name: "nofile",
    Soft: 100,
    Hard: 20000,
  });
  expect(ulimitsOf([{ name: "core", soft: -1, hard: -1 }], host)).toEqual([{ Name: "core", Soft: -1, Hard: -1 }]);
});
