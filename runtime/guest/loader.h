/*
 * The exec loader's own words: what loader.c and its test entry share.
 */
#ifndef SVCRELAY_LOADER_H
#define SVCRELAY_LOADER_H

#include "abi.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* Where the program starts, in x0 and x1. */
struct sr_start {
	uint64_t pc;
	uint64_t sp;
};

HIDDEN struct sr_start sr_load(struct sr_plan *plan);

#ifdef LOADER_TEST
/* The tests' own way of reading a report; loader.S gets the plan from them too. */
HIDDEN void sr_test_report(const struct sr_plan *plan);
#endif

#endif
