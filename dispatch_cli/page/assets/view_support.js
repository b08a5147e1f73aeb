/* Support matrix of the operators of the files: each cell opens its call. */

/** All calls, or one. argument: the number of a column, a comma, and the operator. */
function supportView(argument) {
  const support = page.data.support;
  if (support === null) return { title: "Support", parts: [paragraph("The files have no operators, or too many for a matrix on a page.")] };
  const matrixParts = writtenParts(support.blocks);
  if (!Object.hasOwn(support.calls, argument ?? "")) {
    return { title: "Where the operators work", command: page.command("support"), parts: matrixParts };
  }
  const [title, name, number] = support.calls[argument];
  const { call, blocks } = support.answers[number];
  return {
    title,
    command: call === null ? page.command("support") : page.command("call", name, call),
    parts: [facts([["Operator", make("a", { href: page.link(name) }, name)]]), writtenParts(blocks), matrixParts],
  };
}
