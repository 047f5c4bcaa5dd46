// SPDX-License-Identifier: GPL-2.0
/*
 * sanxctl key: secrets that this node shares with its peers.
 *
 * Keys come from files that nobody else can read, from pipes, or from the kernel's
 * keyrings, never from the command line, where every user sees them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/keyctl.h>

#include "keyfile.h"
#include "sanxctl.h"

static const char usage[] =
	"Usage: sanxctl key [ show ]\n"
	"       sanxctl key generate\n"
	"       sanxctl key add PEER { FILE | keyring DESCRIPTION }\n"
	"       sanxctl key del PEER [ ID ]\n"
	"PEER := { NODEID | default }; default is all peers without keys of their own\n"
	"FILE := a key as \"key generate\" prints it, with mode 0600; - is stdin\n";

/*
 * Show
 */

static void key_answer(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_KEY_MAX + 1];
	struct ctl *ctl = data;
	struct print *out = &ctl->out;
	char id[KEY_ID_LEN];
	u64 node;

	nl_parse(nlh, attr, SANX_A_KEY_MAX);
	node = nl_uint(attr[SANX_A_KEY_NODE]);

	print_item_open(out);
	if (!node)
		print_string(out, NULL, "%s", "default");
	print_uint(out, "node", node ? "%llu" : NULL, node);
	print_string(out, "id", " %s", key_id_format(nl_uint(attr[SANX_A_KEY_ID]), id));
	print_item_close(out);
}

static int key_show(struct ctl *ctl, int argc, char **argv)
{
	if (ctl_no_args(argc, argv))
		return -1;
	return ctl_show(ctl, SANX_CMD_KEY_GET, key_answer);
}

static int key_generate(struct ctl *ctl, int argc, char **argv)
{
	char text[KEY_TEXT_LEN];
	u8 key[SANX_KEY_LEN];

	print_single(&ctl->out);
	if (ctl_no_args(argc, argv))
		return -1;
	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return ctl_fail("getrandom: %s", strerror(errno));
	key_format(key, text);
	print_string(&ctl->out, "key", "%s\n", text);
	explicit_bzero(key, sizeof(key));
	explicit_bzero(text, sizeof(text));
	return 0;
}

/*
 * Read
 */

/* May only its owner, who is this user or root, read and write a file? */
static int file_check(const char *name, FILE *file)
{
	struct stat st;

	if (fstat(fileno(file), &st))
		return ctl_fail("%s: %s", name, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return 0;
	if (st.st_uid && st.st_uid != geteuid())
		return ctl_fail("%s belongs to another user", name);
	if (st.st_mode & 077)
		return ctl_fail("%s has mode %04o, and others can use it, expected 0600", name,
				st.st_mode & 07777);
	return 0;
}

static int key_check(const char *name, const char *text, u8 *key)
{
	const char *why = key_parse(text, key);

	return why ? ctl_fail("%s: %s", name, why) : 0;
}

static int file_read(const char *path, u8 *key)
{
	char text[256];
	const char *name;
	size_t len;
	FILE *file = ctl_open(path, &name);
	int rc;

	if (!file)
		return -1;
	/* Else the key stays in memory that is not cleared. */
	setvbuf(file, NULL, _IONBF, 0);
	rc = file_check(name, file);
	if (!rc) {
		len = fread(text, 1, sizeof(text) - 1, file);
		text[len] = '\0';
		rc = ferror(file) ? ctl_fail("%s: %s", name, strerror(errno)) :
				    key_check(name, text, key);
		explicit_bzero(text, sizeof(text));
	}
	ctl_close(file);
	return rc;
}

static int keyring_read(const char *description, u8 *key)
{
	long serial = syscall(SYS_request_key, "user", description, NULL, 0);
	char text[256];
	long len;
	int rc;

	if (serial < 0)
		return ctl_fail("keyring: %s: %s", description, strerror(errno));
	len = syscall(SYS_keyctl, KEYCTL_READ, serial, text, sizeof(text) - 1);
	if (len < 0)
		return ctl_fail("keyring: %s: %s", description, strerror(errno));
	text[len < (long)sizeof(text) ? len : 0] = '\0';
	rc = key_check(description, text, key);
	explicit_bzero(text, sizeof(text));
	return rc;
}

/*
 * Change
 */

static int peer_arg(const char *text, u32 *peer)
{
	*peer = 0;
	if (!strcmp(text, "default") || (parse_number(text, 10, UINT32_MAX, peer) && *peer))
		return 0;
	return ctl_fail("\"%s\" is not a peer, expected a node id of 1-4294967295 or default",
			text);
}

/* Prints the id of the key that was added. */
static void id_answer(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr[SANX_A_KEY_MAX + 1];
	struct ctl *ctl = data;
	char id[KEY_ID_LEN];

	nl_parse(nlh, attr, SANX_A_KEY_MAX);
	print_string(&ctl->out, "id", "%s\n", key_id_format(nl_uint(attr[SANX_A_KEY_ID]), id));
}

#define KEY_ROOM (2 * (MNL_ATTR_HDRLEN + sizeof(u32)) + MNL_ATTR_HDRLEN + SANX_KEY_LEN)

/* @key: NULL for key-del; @id: 0 for none */
static int key_send(struct ctl *ctl, u8 cmd, u32 peer, const u8 *key, u32 id)
{
	struct nl_request req;

	if (nl_request_init(&req, cmd, 1, KEY_ROOM))
		return ctl_fail("out of memory");
	mnl_attr_put_u32(req.nlh, SANX_A_KEY_NODE, peer);
	if (key)
		mnl_attr_put(req.nlh, SANX_A_KEY_SECRET, SANX_KEY_LEN, key);
	if (id)
		mnl_attr_put_u32(req.nlh, SANX_A_KEY_ID, id);
	return ctl_do(ctl, &req, key ? id_answer : NULL, ctl);
}

static int source_read(int argc, char **argv, u8 *key)
{
	if (argc && !strcmp(argv[0], "keyring"))
		return ctl_one_arg(argc - 1, argv + 1, "DESCRIPTION") ?:
		       keyring_read(argv[1], key);
	return ctl_one_arg(argc, argv, "FILE") ?: file_read(argv[0], key);
}

static int key_add(struct ctl *ctl, int argc, char **argv)
{
	u8 key[SANX_KEY_LEN];
	u32 peer;
	int rc;

	print_single(&ctl->out);
	if (!argc)
		return ctl_fail("PEER is missing, expected a node id or default");
	rc = peer_arg(argv[0], &peer) ?: source_read(argc - 1, argv + 1, key) ?:
	     key_send(ctl, SANX_CMD_KEY_ADD, peer, key, 0);
	explicit_bzero(key, sizeof(key));
	return rc;
}

static int key_del(struct ctl *ctl, int argc, char **argv)
{
	u32 peer, id = 0;

	if (!argc)
		return ctl_fail("PEER is missing, expected a node id or default");
	if (peer_arg(argv[0], &peer))
		return -1;
	if (argc > 1 && (!parse_number(argv[1], 16, UINT32_MAX, &id) || !id))
		return ctl_fail("\"%s\" is not the id of a key, expected 8 hex digits",
				argv[1]);
	if (argc > 2)
		return ctl_no_args(argc - 2, argv + 2);
	return key_send(ctl, SANX_CMD_KEY_DEL, peer, NULL, id);
}

static const struct command commands[] = {
	{ "show", "list", key_show },
	{ "generate", NULL, key_generate },
	{ "add", NULL, key_add },
	{ "del", "delete", key_del },
	{ }
};

const struct object key_object = {
	.name = "key",
	.usage = usage,
	.commands = commands,
};
