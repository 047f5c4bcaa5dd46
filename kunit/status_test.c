// SPDX-License-Identifier: GPL-2.0
/*
 * What a completion that failed says of its link (af_sanx/verbs/status.h): each status
 * that there is.
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/module.h>

#include "verbs/status.h"

#define LOST(status)	{ status, #status, SANX_WIRE_LOST }
#define FAULT(status)	{ status, #status, SANX_WIRE_FAULT }

/* In the order of enum ib_wc_status, which has no gaps. */
static const struct status_case {
	enum ib_wc_status	status;
	const char		*name;
	enum sanx_wire_failure	want;
} cases[] = {
	FAULT(IB_WC_LOC_LEN_ERR),
	LOST(IB_WC_LOC_QP_OP_ERR),
	FAULT(IB_WC_LOC_EEC_OP_ERR),
	FAULT(IB_WC_LOC_PROT_ERR),
	LOST(IB_WC_WR_FLUSH_ERR),
	FAULT(IB_WC_MW_BIND_ERR),
	LOST(IB_WC_BAD_RESP_ERR),
	FAULT(IB_WC_LOC_ACCESS_ERR),
	FAULT(IB_WC_REM_INV_REQ_ERR),
	FAULT(IB_WC_REM_ACCESS_ERR),
	LOST(IB_WC_REM_OP_ERR),
	LOST(IB_WC_RETRY_EXC_ERR),
	LOST(IB_WC_RNR_RETRY_EXC_ERR),
	FAULT(IB_WC_LOC_RDD_VIOL_ERR),
	FAULT(IB_WC_REM_INV_RD_REQ_ERR),
	LOST(IB_WC_REM_ABORT_ERR),
	FAULT(IB_WC_INV_EECN_ERR),
	FAULT(IB_WC_INV_EEC_STATE_ERR),
	LOST(IB_WC_FATAL_ERR),
	LOST(IB_WC_RESP_TIMEOUT_ERR),
	LOST(IB_WC_GENERAL_ERR),
};

static void each_status(struct kunit *test)
{
	unsigned int i;

	/* A status that is new in the kernel is to be thought about. */
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(cases), IB_WC_GENERAL_ERR);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_ASSERT_EQ_MSG(test, cases[i].status, IB_WC_SUCCESS + 1 + i,
				    "%s", cases[i].name);
		KUNIT_EXPECT_EQ_MSG(test, verbs_status_failure(cases[i].status),
				    cases[i].want, "%s", cases[i].name);
	}
}

static struct kunit_case status_cases[] = {
	KUNIT_CASE(each_status),
	{}
};

static struct kunit_suite status_suite = {
	.name = "sanx_status",
	.test_cases = status_cases,
};

kunit_test_suite(status_suite);

MODULE_DESCRIPTION("KUnit tests of AF_SANX: completions that failed");
MODULE_LICENSE("GPL");
