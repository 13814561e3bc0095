import { describe, expect, it } from 'vitest';
import { relationshipRules, relationshipType, ruleOf } from './relationship.ts';

describe('the name of a relationship type', () => {
  it.each(Object.keys(relationshipRules))('%s is of the taxonomy', (type) => {
    expect(relationshipType.parse(type)).toBe(type);
    expect(ruleOf(type)).toBe(Reflect.get(relationshipRules, type));
  });

  it.each(['org.example.cites', 'https://example.org/rel/cites', 'urn:example:cites'])(
    '%s is somebody’s own and follows related-to',
    (type) => {
      expect(relationshipType.parse(type)).toBe(type);
      expect(ruleOf(type)).toBe(relationshipRules['related-to']);
    },
  );

  it.each([
    'cites',
    'Delegated-From',
    '',
    'a b',
    'toString',
    `org.${'x'.repeat(300)}`,
    'https://a b',
  ])('“%.40s” is refused', (type) => {
    expect(relationshipType.safeParse(type).success).toBe(false);
  });

  it('that is also a name of JavaScript has no rule of its own', () => {
    expect(ruleOf('constructor')).toBe(relationshipRules['related-to']);
    expect(ruleOf('__proto__')).toBe(relationshipRules['related-to']);
  });
});
