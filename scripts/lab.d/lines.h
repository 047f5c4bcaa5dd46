/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What um.c and calendar.c say to each other, a byte at a time: um.c writes to the lines of
 * a node with a virtual clock when the calendar lets it.  The first byte is the node's
 * number.
 */
#ifndef LAB_LINES_H
#define LAB_LINES_H

enum {
	LINES_INPUT = 'i',	/* there is something to write */
	LINES_GO = 'g',		/* write it now */
	LINES_DONE = 'd',
	LINES_FLUSH = 'f',	/* pass on what has come from the lines */
	LINES_FLUSHED = 'F',	/* and the clients have taken it */
};

#endif
