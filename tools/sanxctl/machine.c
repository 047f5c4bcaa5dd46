// SPDX-License-Identifier: GPL-2.0
/*
 * The identity of this machine.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "sanxctl.h"
#include "sha256.h"

/* Another one, for tests and for containers that share one. */
#define MACHINE_ID_ENV	"SANX_MACHINE_ID_FILE"
#define MACHINE_ID_FILE	"/etc/machine-id"
#define MACHINE_ID_LEN	16

/* What AF_SANX is to machine-id(5): constant for ever. */
static const u8 application[] = {
	0x5d, 0x2c, 0x0e, 0x6b, 0x91, 0x3f, 0x4a, 0x77,
	0xb8, 0x14, 0xe3, 0x9a, 0x60, 0x2d, 0xc5, 0x48,
};

static int id_parse(const char *text, u8 id[MACHINE_ID_LEN])
{
	char digits[3] = { };
	u32 number, all = 0;
	int i;

	for (i = 0; i < MACHINE_ID_LEN; i++) {
		memcpy(digits, text + 2 * i, 2);
		if (!parse_number(digits, 16, 255, &number))
			return -1;
		id[i] = number;
		all |= number;
	}
	return all && !text[2 * MACHINE_ID_LEN] ? 0 : -1;
}

static int id_read(u8 id[MACHINE_ID_LEN])
{
	const char *path = getenv(MACHINE_ID_ENV) ?: MACHINE_ID_FILE;
	char text[2 * MACHINE_ID_LEN + 3] = "";
	FILE *file = fopen(path, "re");

	if (!file)
		return ctl_fail("%s: %s, expected the id of this machine", path, strerror(errno));
	if (fgets(text, sizeof(text), file))
		text[strcspn(text, "\n")] = '\0';
	fclose(file);
	if (strlen(text) < 2 * MACHINE_ID_LEN || id_parse(text, id))
		return ctl_fail("%s has no id of this machine, expected 32 hex digits", path);
	return 0;
}

/**
 * machine_node_id() - the node id that this machine has by itself
 * @id: set to it
 *
 * It is made as sd_id128_get_machine_app_specific(3) does, so that it says nothing of
 * the machine id.  The highest bit is set.
 *
 * Return: 0, or -1 after a message.
 */
int machine_node_id(u32 *id)
{
	u8 machine[MACHINE_ID_LEN], mac[SHA256_LEN];
	u32 be;

	if (id_read(machine))
		return -1;
	hmac_sha256(machine, sizeof(machine), application, sizeof(application), mac);
	memcpy(&be, mac, sizeof(be));
	*id = be32toh(be) | 1U << 31;
	return 0;
}
