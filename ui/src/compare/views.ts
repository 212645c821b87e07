import type { ViewDescription } from "../app";
import type { CompareApp } from "./app";
import { comparisonView } from "./comparison";
import { changedKernelsView } from "./kernels";
import { sidesView } from "./sides";

export const compareViews: ViewDescription<CompareApp>[] = [comparisonView, changedKernelsView, sidesView];
