# SPDX-License-Identifier: GPL-2.0
#
# What can be tested without the module.  VALGRIND=1 runs the C programs of
# sanxctl under valgrind.

T := $(O)/tests
TESTS := $(TOOLS)/tests
TEST_CFLAGS = $(CPPFLAGS) $(SANX_CFLAGS) $(CTL_CFLAGS) -Wno-missing-prototypes $(CFLAGS)

# The library and its companion look for the family's number in a file here.
TEST_FAMILY := -DSANX_FAMILY_PARAM='"$(T)/family"' -DSANX_DGRAM_SYSCTL='"$(T)/dgram"' \
	-DSANX_PROC_SYS='"$(T)/sys"'

TEST_PROGRAMS := $(addprefix $(T)/,test-parse test-nl test-resolve test-verdict sanxctl sanx-run probe \
	libsanx-preload.so libsanx-preload-dgram.so interpose.so)

VALGRIND_RUN := $(if $(VALGRIND),valgrind -q --leak-check=full --error-exitcode=9)

$(T):
	@mkdir -p $@

$(T)/test-parse: $(TESTS)/test-parse.c $(addprefix $(O)/obj/sanxctl/,parse.o text.o addr.o)
$(T)/test-nl: $(TESTS)/test-nl.c $(O)/obj/sanxctl/nl.o
$(T)/test-resolve: $(TESTS)/test-resolve.c $(O)/obj/lib/resolve.o
$(T)/test-verdict: $(TESTS)/test-verdict.c $(O)/obj/sanxctl/verdict.o $(O)/obj/sanxctl/addr.o
$(T)/sanxctl: $(TESTS)/fake-kernel.c $(filter-out %/family.o,$(CTL_OBJS))
# The preload library calls its clock_gettime().
$(T)/probe: LDFLAGS += -rdynamic
$(T)/probe: $(TESTS)/probe.c
$(addprefix $(T)/,test-parse test-nl test-resolve test-verdict sanxctl probe): $(TESTS)/tap.h | $(T)
	$(CC) $(TEST_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(CTL_LIBS) -lpthread

$(T)/sanx-run: $(RUN_SRCS) | $(T)
	$(CC) $(TEST_CFLAGS) $(TEST_FAMILY) $(LDFLAGS) -o $@ $(filter %.c,$^)

$(T)/libsanx-preload-dgram.so: TEST_FAMILY += -DSANX_PRELOAD_DGRAM
$(T)/libsanx-preload.so $(T)/libsanx-preload-dgram.so: $(addprefix $(TOOLS)/run/,preload.c family.c family.h) | $(T)
	$(CC) $(TEST_CFLAGS) $(TEST_FAMILY) $(PRELOAD_FLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^)

$(T)/interpose.so: $(TESTS)/interpose.c | $(T)
	$(CC) $(TEST_CFLAGS) -fPIC -shared $(LDFLAGS) -o $@ $<

check: all $(TEST_PROGRAMS)
	@VALGRIND_RUN="$(VALGRIND_RUN)" $(TESTS)/run.sh \
		"$(VALGRIND_RUN) $(T)/test-parse" "$(VALGRIND_RUN) $(T)/test-nl" \
		"$(VALGRIND_RUN) $(T)/test-resolve" "$(VALGRIND_RUN) $(T)/test-verdict" \
		"$(TESTS)/test-sanxctl.sh $(O)" "$(TESTS)/test-completion.sh" \
		"$(TESTS)/test-preload.sh $(O)" "$(TESTS)/test-run.sh $(O)"
