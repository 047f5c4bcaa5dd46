/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SANX_SELFTESTS_SLOW_H
#define SANX_SELFTESTS_SLOW_H

/*
 * A page that whoever touches it waits for, until it is given; NULL where
 * there is no userfaultfd.
 */
char *slow_page(int *uffd);
/* Gives it, beginning with @text; 0 or -errno. */
int slow_page_give(int uffd, char *page, const char *text);

#endif /* SANX_SELFTESTS_SLOW_H */
